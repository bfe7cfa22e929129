# Functions shared by tools/lint/includes and tools/lint/symbols: the law of layers and rooms.

# Read tools/lint/layers into may[entry, thing], and which headers are faces.
function layers_read(path,    line, word, count, i, entry, number, faces, face, face_count, is_more) {
    while ((getline line < path) > 0) {
        number++
        sub(/#.*/, "", line)
        faces = ""
        if (match(line, /\[[^\]]*\]/)) {
            faces = substr(line, RSTART + 1, RLENGTH - 2)
            line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
        }
        is_more = line ~ /^[ \t]+[^ \t]/ # of the entry above
        count = split(line, word, /[ \t:]+/)
        if (count == 0 || (word[1] == "" && !is_more))
            continue
        if (!is_more)
            entry = word[1]
        is_entry[entry] = 1
        if (faces != "") {
            has_faces[entry] = 1
            face_count = split(faces, face, " ")
            for (i = 1; i <= face_count; i++)
                is_face[entry "/" face[i]] = 1
        }
        is_layer[top_of(entry)] = 1
        for (i = 2; i <= count; i++) {
            if (word[i] == "")
                continue
            may[entry, word[i]] = 1
            # A room stands on what is above its line: so no circle can be written down.
            if (word[i] != "*" && top_of(word[i]) == top_of(entry) && !stands(word[i])) {
                print path ":" number ": " entry " may not use " word[i] ", which has no line above it"
                layers_are_bad = 1
            }
        }
    }
    close(path)
}

function top_of(path) {
    sub(/\/.*/, "", path)
    return path
}

# "policies/order/fifo" -> "policies/order"; "" when nothing is left.
function up_from(path) {
    return path ~ /\// ? substr(path, 1, match(path, /\/[^\/]*$/) - 1) : ""
}

# Is there a line for the thing, or for a room that holds it?
function stands(thing) {
    if (thing !~ /\//)
        return thing in is_entry # the files of the layer that are in no room
    for (; thing ~ /\//; thing = up_from(thing))
        if (thing in is_entry)
            return 1
    return 0
}

# The longest line that names the file (without extension) or a folder that holds it.
function entry_of(path,    part) {
    for (part = path; part != ""; part = up_from(part))
        if (part in is_entry)
            return part
    return top_of(path)
}

# Does the entry's own line name the file, or a folder that holds it?  Its own layer stands for the files in no room.
function names(entry, path,    top) {
    top = entry_of(path)
    for (; path != ""; path = up_from(path))
        if ((entry, path) in may && (path != top_of(entry) || path == top))
            return 1
    return (entry, "*") in may
}

# May the file `user` use the file `path`?  Of its own layer: what its line names.  Of others: what a line above it in
# the tree names too.
function layers_allow(user, path,    entry) {
    entry = entry_of(user)
    if (entry == entry_of(path) || names(entry, path))
        return 1
    if (top_of(user) == top_of(path))
        return 0
    for (entry = up_from(entry); entry != ""; entry = up_from(entry))
        if (names(entry, path))
            return 1
    return 0
}

# Is the header private to a room that the file is not in, or would a face of the room hand it on?
function is_private_to(user, is_header, header,    room) {
    room = entry_of(header)
    if (!(room in has_faces) || header == room || header in is_face || (user, header) in may)
        return 0
    return entry_of(user) != room || (is_header && user in is_face)
}
