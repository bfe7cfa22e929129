#!/usr/bin/env python3
"""Run the job of a CI system's file as written, as far as the examples of docs/ci.md need it.

    ci_job.py github FILE JOB REPOSITORY BRANCH BASE FOLDER
    ci_job.py gitlab FILE JOB REPOSITORY BRANCH BASE FOLDER

REPOSITORY is cloned at BRANCH into FOLDER/checkout; BASE is the branch that it goes to.  Exit status and output are
those of the job; status 98 if none of the changed files starts it.  Of a GitHub job, FOLDER/summary.md is the step
summary, and FOLDER/outputs has a line for each output of an action's step.  What a file uses beyond that is an error of
this program (status 99), so that nothing is passed over.
"""
import os
import re
import subprocess
import sys
import yaml


def fail(message):
    print('ci_job.py: ' + message, file=sys.stderr)
    sys.exit(99)


def only(mapping, known, what):
    for key in mapping:
        if key not in known:
            fail('%s has %r, which is not known here' % (what, key))


def git(*arguments):
    subprocess.run(['git', '-c', 'advice.detachedHead=false', *arguments], check=True)


def triggers(patterns, repository, branch, base):
    """Does a file that the branch changes match a pattern, as both systems have it?"""
    changed = subprocess.run(['git', '-C', repository, 'diff', '--name-only', '%s...%s' % (base, branch)], check=True,
                             capture_output=True, text=True).stdout.split()
    for pattern in patterns:
        parts = re.split(r'(\*\*/|\*\*|\*)', pattern)
        words = {'**/': '(?:.*/)?', '**': '.*', '*': '[^/]*'}
        if any(re.fullmatch(''.join(words.get(part, re.escape(part)) for part in parts), name) for name in changed):
            return True
    print('ci_job.py: none of these files starts the job: %s' % ' '.join(changed), file=sys.stderr)
    return False


class Github:
    def __init__(self, folder, repository, branch, base):
        self.folder, self.repository, self.branch = folder, repository, branch
        self.work, self.temp = os.path.join(folder, 'checkout'), os.path.join(folder, 'temp')
        self.values = {'github.base_ref': base}
        os.makedirs(self.temp)

    def expand(self, text, values):
        def value_of(match):
            name = match.group(1)
            if name not in values:
                fail('%s is not known here' % name)
            return values[name]
        text = str(text).lower() if isinstance(text, bool) else str(text)
        return re.sub(r'\$\{\{ *([\w.-]+) *\}\}', value_of, text)

    def holds(self, condition, values):
        match = re.fullmatch(r"([\w.-]+) (==|!=) '([^']*)'", condition)
        if not match or match.group(1) not in values:
            fail('the condition %r is not known here' % condition)
        return (values[match.group(1)] == match.group(3)) == (match.group(2) == '==')

    def checkout(self, options):
        only(options, ('fetch-depth',), 'a checkout')
        if options.get('fetch-depth') != '0':
            fail('a checkout without the history has no merge base')
        git('clone', '-q', '--branch', self.branch, self.repository, self.work)

    def command(self, step, values):
        """As a runner does: a script for bash, with files for what it hands back."""
        only(step, ('name', 'id', 'if', 'shell', 'env', 'run'), 'a step')
        if step['shell'] != 'bash':
            fail('the shell is not bash')
        if '${{' in step['run']:
            fail('a script with an expression: a value could bring in commands; pass it through env')
        script, output = os.path.join(self.temp, 'script.sh'), os.path.join(self.temp, 'output')
        with open(script, 'w') as file:
            file.write(step['run'])
        open(output, 'w').close()
        environment = dict(os.environ, RUNNER_TEMP=self.temp, GITHUB_OUTPUT=output, GITHUB_WORKSPACE=self.work,
                           GITHUB_STEP_SUMMARY=os.path.join(self.folder, 'summary.md'))
        for name, value in step.get('env', {}).items():
            environment[name] = self.expand(value, values)
        os.makedirs(self.work, exist_ok=True)
        status = subprocess.run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', script], cwd=self.work,
                                env=environment, stdin=subprocess.DEVNULL).returncode
        with open(output) as file:
            for line in file:
                name, value = line.rstrip('\n').split('=', 1)
                values['steps.%s.outputs.%s' % (step.get('id'), name)] = value
        return status

    def action(self, path, given):
        with open(os.path.join(self.work, path, 'action.yml')) as file:
            action = yaml.safe_load(file)
        only(action, ('name', 'description', 'inputs', 'outputs', 'runs'), 'the action')
        only(given, action['inputs'], 'the step')
        values = dict(self.values)
        for name, description in action['inputs'].items():
            if description.get('required') and name not in given:
                fail('the input %s is missing' % name)
            values['inputs.' + name] = self.expand(given.get(name, description.get('default', '')), self.values)
        if action['runs']['using'] != 'composite':
            fail('not a composite action')
        status = 0
        for step in action['runs']['steps']:
            if status == 0 and ('if' not in step or self.holds(step['if'], values)):
                status = self.command(step, values)
        with open(os.path.join(self.folder, 'outputs'), 'w') as file:
            for name, description in action['outputs'].items():
                file.write('%s=%s\n' % (name, self.expand(description['value'], values)))
        return status

    def upload(self, options):
        only(options, ('name', 'path'), 'an upload')
        if not os.path.exists(os.path.join(self.work, options['path'])):
            print('warning: there is no %s to upload' % options['path'])  # the action does not fail either

    def run(self, steps):
        status = 0
        for step in steps:
            if 'run' in step:
                if status == 0:
                    status = self.command(step, self.values)
                continue
            only(step, ('uses', 'with', 'if', 'id', 'name'), 'a step')
            options = {name: self.expand(value, self.values) for name, value in step.get('with', {}).items()}
            if 'if' in step and step['if'] != 'always()':
                fail('the condition %r is not known here' % step['if'])
            if status != 0 and 'if' not in step:
                continue
            if re.fullmatch(r'actions/checkout@v\d+', step['uses']):
                self.checkout(options)
            elif re.fullmatch(r'actions/upload-artifact@v\d+', step['uses']):
                self.upload(options)
            elif step['uses'].startswith('./'):
                status = self.action(step['uses'], options)
            else:
                fail('the action %s is not known here' % step['uses'])
        return status


def main():
    kind, path, name, repository, branch, base = sys.argv[1:7]
    folder = os.path.abspath(sys.argv[-1])
    with open(path) as file:
        jobs = yaml.safe_load(file)
    if kind == 'github':
        job = jobs['jobs'][name]
        only(job, ('runs-on', 'container', 'steps'), 'the job')
        if not triggers(jobs[True]['pull_request']['paths'], repository, branch, base):  # YAML takes `on` for true
            return 98
        return Github(folder, repository, branch, base).run(job['steps'])
    job = jobs[name]
    only(job, ('image', 'variables', 'rules', 'before_script', 'script', 'allow_failure', 'artifacts'), 'the job')
    if job['variables'].get('GIT_DEPTH') != 0:
        fail('a checkout without the history has no merge base')
    environment = dict(os.environ, CI_MERGE_REQUEST_TARGET_BRANCH_NAME=base)
    if not triggers(job['rules'][0]['changes'], repository, branch, base):
        return 98
    environment.update({name: str(value) for name, value in job['variables'].items()})
    git('clone', '-q', '--branch', branch, repository, folder + '/checkout')
    for line in job['before_script'] + job['script']:  # a shell runs them until one fails
        status = subprocess.run(['sh', '-c', line], cwd=folder + '/checkout', env=environment,
                                stdin=subprocess.DEVNULL).returncode
        if status != 0:
            break
    for kept in job['artifacts']['paths'] + list(job['artifacts']['reports'].values()):
        if not os.path.exists(os.path.join(folder, 'checkout', kept)):
            fail('there is no %s to keep' % kept)
    return status


sys.exit(main())
