/* tests/unit/test_json_set.c -- overrides and grafts: what they change, what they refuse, whom messages blame. */
#include "tests/support/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/json_text.h"

static const char scenario[] = "{\n"
                               "  'cluster': 'a.json',\n"
                               "  'world': {'period_s': 1},\n"
                               "  'pools': [{'name': 'h100', 'nodes': 500},\n"
                               "            {'name': '1', 'nodes': 2}],\n"
                               "  'nothing': null\n"
                               "}\n";

static struct json_doc *parse(const char *name, const char *text)
{
    struct json_doc *doc;
    struct error error = json_text_read(&doc, name, text);
    assert_false(error_is(error));
    return doc;
}

static void assert_canonical(const struct json_doc *doc, const char *expected)
{
    char *text = json_doc_canonical_new(doc);
    assert_json_text_equal(text, expected);
    free(text);
}

static void assert_report(struct error error, const char *expected)
{
    assert_true(error_is(error));
    char *report = error_text_new(&error);
    assert_string_equal(report, expected);
    free(report);
    error_release(&error);
}

static void set(struct json_doc *doc, const char *assignment)
{
    char *text = json_text_new(assignment);
    struct error error = json_doc_set(doc, text);
    free(text);
    assert_string_equal(error_message(&error), "");
    assert_false(error_is(error));
}

TEST(test_canonical)
{
    struct json_doc *doc =
        parse("f", " {\"b\" : [1, 2.0, 0.1, -1e-7, true, false, null], \"a\": {\"z\": \"\\u00e9<\\n\", "
                   "\"B\": {}}, \"aa\": []}");
    assert_canonical(doc, "{\"a\":{\"B\":{},\"z\":\"\xc3\xa9\\u003c\\n\"},\"aa\":[],"
                          "\"b\":[1,2,0.1,-1e-07,true,false,null]}");
    json_doc_free(doc);
}

TEST(test_set)
{
    struct json_doc *doc = parse("s.json", scenario);
    set(doc, "world.period_s=0");
    set(doc, "pools.h100.nodes=10");    /* by name */
    set(doc, "pools.1.nodes=3");        /* a name goes before an index */
    set(doc, "pools.0.kind=\"dgx\"");   /* by index */
    set(doc, "nothing.deep.er=[1, 2]"); /* null makes way */
    set(doc, "new.one=some text");      /* no JSON: a string */
    set(doc, "new.empty=");
    set(doc, "new.equals=a=b");
    set(doc, "new.quoted=\"8\"");
    set(doc, "cluster={'nodes': {'n': 1}}");
    set(doc, "cluster.nodes.n=2");
    assert_canonical(doc, "{'cluster':{'nodes':{'n':2}},'new':{'empty':'','equals':'a=b','one':'some text',"
                          "'quoted':'8'},'nothing':{'deep':{'er':[1,2]}},'pools':[{'kind':'dgx','name':'h100',"
                          "'nodes':10},{'name':'1','nodes':3}],'world':{'period_s':0}}");
    set(doc, "pools.0=null"); /* an element as a whole */
    set(doc, "pools=7");
    json_doc_free(doc);
}

TEST(test_set_refuses)
{
    static const struct {
        const char *assignment;
        const char *report;
    } cases[] = {
        {"world.period_s", "error: --set world.period_s: the value is missing\n  write PATH=VALUE\n"},
        {"=5", "error: --set : the path has an empty step\n"},
        {"world..x=5", "error: --set world..x: the path has an empty step\n"},
        {"world.=5", "error: --set world.: the path has an empty step\n"},
        {"pools.h10.nodes=5", "error: --set pools.h10.nodes: the array has no element 'h10'\n"
                              "  did you mean 'h100'?\n"},
        {"pools.2.nodes=5", "error: --set pools.2.nodes: the array has no element '2'\n"
                            "  take a name, or an index from 0 to 1\n"},
        {"pools.-1=5", "error: --set pools.-1: the array has no element '-1'\n"
                       "  take a name, or an index from 0 to 1\n"},
        {"cluster.x=5", "error: --set cluster.x: 'x' would stand inside \"a.json\", which is no "
                        "object or array\n"},
        {"a\xff=5", "error: --set a?: the path is not UTF-8\n"},
        {"a=\xff", "error: --set a: the value is not UTF-8\n"},
        {"new.\xc3=5", "error: --set new.?: the path is not UTF-8\n"},
    };
    struct json_doc *doc = parse("s.json", scenario);
    char *before = json_doc_canonical_new(doc);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error error = json_doc_set(doc, cases[i].assignment);
        assert_int_equal(error.kind, ERROR_CONFIG);
        assert_report(error, cases[i].report);
        assert_canonical(doc, before); /* a refused one changes nothing */
    }
    free(before);
    json_doc_free(doc);
}

/* Read `nodes` of the n-th pool, which is bad, and the report about it. */
static void assert_bad_nodes(struct json_doc *doc, size_t n, const char *expected)
{
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object, pool;
    json_object_open(&object, &root);
    struct json_value pools = json_member(&object, "pools");
    struct json_value item = json_array_item(&pools, n);
    json_object_open(&pool, &item);
    json_get_string(&pool, "name", "");
    json_get_int(&pool, "nodes", 1, 100, 0);
    json_object_close(&pool);
    assert_report(error, expected);
}

TEST(test_messages_name_the_override)
{
    struct json_doc *doc = parse("s.json", scenario);
    set(doc, "pools.1.nodes=\"5\"");
    assert_bad_nodes(doc, 1,
                     "error: --set pools.1.nodes: 'nodes' must be an integer from 1 to 100, got \"5\"\n"
                     "  at /pools/1/nodes; remove the quotes\n");
    assert_bad_nodes(doc, 0,
                     "error: s.json:4:39: 'nodes' must be an integer from 1 to 100, got 500\n"
                     " 4 |   \"pools\": [{\"name\": \"h100\", \"nodes\": 500},\n"
                     "   |                                       ^~~\n"
                     "  at /pools/0/nodes\n");
    /* the later one counts, also for what is inside it */
    set(doc, "pools.0.nodes=700");
    set(doc, "pools=[{'name': 'x', 'nodes': 0}]");
    assert_bad_nodes(doc, 0,
                     "error: --set pools: 'nodes' must be an integer from 1 to 100, got 0\n"
                     "  at /pools/0/nodes\n");
    set(doc, "pools.x.nodes=-1");
    set(doc, "pools.x.name=y");
    assert_bad_nodes(doc, 0,
                     "error: --set pools.x.nodes: 'nodes' must be an integer from 1 to 100, got -1\n"
                     "  at /pools/0/nodes\n");
    json_doc_free(doc);
}

TEST(test_messages_about_what_an_override_made)
{
    struct json_doc *doc = parse("s.json", scenario);
    set(doc, "made.on.the=way");
    struct error error = ERROR_OK;
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object, made;
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "made");
    json_object_open(&made, &value);
    json_get_int(&made, "off", 0, 1, 0);
    json_object_close(&made);
    assert_report(error, "error: --set made.on.the: unknown key 'on'\n"
                         "  at /made/on; known here: 'off'\n");
    json_doc_free(doc);
}

TEST(test_graft)
{
    struct json_doc *doc = parse("s.json", scenario);
    struct json_doc *cluster = parse("a.json", "{'gpus':\n"
                                               " [1, '2'], 'name': 'c'}");
    set(cluster, "name=\"d\"");
    struct error error = json_doc_graft(doc, "cluster", cluster);
    assert_false(error_is(error));
    set(doc, "cluster.extra=5");
    assert_canonical(doc, "{'cluster':{'extra':5,'gpus':[1,'2'],'name':'d'},'nothing':null,'pools':[{'name':'h100',"
                          "'nodes':500},{'name':'1','nodes':2}],'world':{'period_s':1}}");
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object, inner;
    json_object_open(&object, &root);
    struct json_value value = json_member(&object, "cluster");
    struct json_value gpus;
    json_object_open(&inner, &value);
    gpus = json_member(&inner, "gpus");
    struct json_value item = json_array_item(&gpus, 1);
    json_value_int(&item, 0, 9);
    assert_report(error, "error: a.json:2:6: 'gpus[1]' must be an integer from 0 to 9, got \"2\"\n"
                         " 2 |  [1, \"2\"], \"name\": \"c\"}\n"
                         "   |      ^~~\n"
                         "  at /cluster/gpus/1; remove the quotes\n");
    error = ERROR_OK;
    json_get_int(&inner, "extra", 0, 1, 0);
    assert_report(error, "error: --set cluster.extra: 'extra' must be an integer from 0 to 1, got 5\n"
                         "  at /cluster/extra\n");
    error = ERROR_OK;
    json_get_int(&inner, "name", 0, 1, 0); /* overridden before the graft */
    assert_report(error, "error: --set name: 'name' must be an integer from 0 to 1, got \"d\"\n"
                         "  at /cluster/name\n");
    json_doc_free(doc);
}

/* An unknown key that holds a graft is the outer file's mistake. */
TEST(test_grafted_key_is_of_the_outer_file)
{
    struct json_doc *doc = parse("s.json", "{\"clustr\": 1}");
    struct error error = json_doc_graft(doc, "clustr", parse("a.json", "{\"a\": 1}"));
    assert_false(error_is(error));
    struct json_value root = json_doc_root(doc, &error);
    struct json_object object;
    json_object_open(&object, &root);
    json_member(&object, "cluster");
    json_object_close(&object);
    assert_report(error, "error: s.json:1:2: unknown key 'clustr'\n"
                         " 1 | {\"clustr\": 1}\n"
                         "   |  ^~~~~~~~\n"
                         "  at /clustr; did you mean 'cluster'?\n");
    json_doc_free(doc);
}

TEST(test_graft_refuses)
{
    struct json_doc *doc = parse("s.json", scenario);
    assert_report(json_doc_graft(doc, "pools.7", parse("a.json", "{}")),
                  "error: pools.7: the array has no element '7'\n"
                  "  take a name, or an index from 0 to 1\n");
    assert_report(json_doc_graft(doc, "", parse("a.json", "{}")), "error: : the path has an empty step\n");
    json_doc_free(doc);
    doc = parse("s.json", "5");
    assert_report(json_doc_graft(doc, "a", parse("a.json", "{}")),
                  "error: a: 'a' would stand inside 5, which is no object or array\n");
    json_doc_free(doc);
}
