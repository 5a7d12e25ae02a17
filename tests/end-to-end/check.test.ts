/** `gyro check` as it is run in a pipeline: files, folders and pipes in; lines, JSON or annotations and an exit code out. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { repository } from './gyro-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'check-'))
after(() => rmSync(folder, { recursive: true }))

function put(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

interface Ended {
  readonly code: number | null
  /** Of stdout. */
  readonly lines: readonly string[]
  readonly summary: string
}

function check(line: string, input = ''): Ended {
  const args = ['check', ...line.split(' ').filter(Boolean)]
  const options = { cwd: folder, input, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(join(repository, 'bin/gyro'), args, options)
  assert.doesNotMatch(stderr, /\n\s+at /, 'no stack trace')
  return { code: status, lines: stdout.split('\n').slice(0, -1), summary: stderr.trimEnd() }
}

const map = (name: string, rest = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${rest}`

put({
  'good/a.yaml': map('a'),
  'good/sub/b.json': '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}',
  'good/notes.txt': 'no manifest: by its name',
  'good/.hidden/c.yaml': 'broken: [',
  'mixed/a-fine.yaml': map('fine'),
  'mixed/b-wrong.yaml': map('wrong', 'dataa: {}\n'),
  'mixed/c-tab.yaml': 'apiVersion: v1\n\tkind: ConfigMap\n',
  'mixed/d-kind.yaml': 'apiVersion: v1\nkind: Nonsense\nmetadata: {name: x}\n',
  'mixed/e-template.yaml': 'apiVersion: v1\nkind: {{ .Values.kind }}\n',
  'mixed/f-compose.yaml': 'services: {web: {image: nginx}}\n',
  'mixed/g-bytes.yaml': '',
  'chart/Chart.yaml': 'apiVersion: v2\nname: web\n',
  'chart/values.yaml': 'a: 1\n',
  'chart/templates/a.yaml': 'kind: {{ .Values.kind }}\n',
  'looped/Chart.yaml': 'apiVersion: v2\nname: web\n',
  'kustomized/kustomization.yaml':
    'resources: [base.yaml, ../good]\npatches: [{path: patch.yaml}]\n',
  'kustomized/base.yaml': map('base'),
  'kustomized/patch.yaml':
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 3}\n',
})

test('a folder that is in order: nothing on stdout, a line on stderr, exit code 0', () => {
  assert.deepEqual(check('good'), {
    code: 0,
    lines: [],
    summary: 'gyro check: 2 objects in 2 files: all accepted',
  })
})

test('every mistake of every file, what is left out with a word, exit code 1', () => {
  writeFileSync(join(folder, 'mixed/g-bytes.yaml'), Buffer.from([0x61, 0x3a, 0xff]))
  const { code, lines, summary } = check('mixed')
  assert.deepEqual(lines, [
    'mixed/g-bytes.yaml: error: cannot be read: it is not text in UTF-8',
    'mixed/b-wrong.yaml:4:1: error: ConfigMap default/wrong: ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dataa"',
    'mixed/c-tab.yaml:2:1: error: error converting YAML to JSON: yaml: line 2: found a tab character that violates indentation: a tab, where YAML takes only spaces',
    'mixed/d-kind.yaml:2:1: error: Nonsense x: no matches for kind "Nonsense" in version "v1": the kinds of v1 are others',
    'mixed/e-template.yaml:2:7: error: a template that is not rendered: give what comes out of it, as in helm template DIR | gyro check -',
    'mixed/f-compose.yaml: notice: not checked: no object of Kubernetes in it, as it has no kind and no apiVersion',
  ])
  assert.equal(summary, 'gyro check: 3 objects in 5 files: 1 accepted, 2 refused; 5 errors')
  assert.equal(code, 2, 'a file could not be read')
})

test('standard input, warnings as errors, JSON', () => {
  const old = 'apiVersion: v1\nkind: Endpoints\nmetadata: {name: e}\n'
  const text = `# Source: web/templates/e.yaml\n${old}---\n${map('A')}`
  assert.deepEqual(check('-', `---\n${old}`).code, 0)
  assert.deepEqual(check('--warnings-as-errors -', `---\n${old}`).code, 1)
  const { code, lines } = check('-o json -n shop -', text)
  const { summary, findings, objects } = JSON.parse(lines.join('\n'))
  assert.equal(code, 1)
  assert.deepEqual(summary, {
    files: 1,
    objects: 2,
    accepted: 1,
    refused: 1,
    notChecked: 0,
    errors: 1,
    warnings: 1,
  })
  assert.deepEqual(findings[0], {
    severity: 'warning',
    file: 'stdin',
    line: 2,
    column: 1,
    message: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    object: { apiVersion: 'v1', kind: 'Endpoints', namespace: 'shop', name: 'e' },
    template: 'web/templates/e.yaml',
  })
  const { severity, line, column, field, reason } = findings[1]
  assert.deepEqual(
    [severity, line, column, field, reason],
    ['error', 8, 12, 'metadata.name', 'FieldValueInvalid'],
  )
  assert.deepEqual(
    objects.map(({ verdict }: { verdict: string }) => verdict),
    ['accepted', 'refused'],
  )
  assert.equal(objects[1].status.reason, 'Invalid')
})

test('annotations of a workflow; a file that is given twice is read once', () => {
  const { code, lines } = check('-o github mixed/b-wrong.yaml mixed/b-wrong.yaml')
  assert.deepEqual(lines, [
    '::error file=mixed/b-wrong.yaml,line=4,col=1,title=ConfigMap default/wrong::ConfigMap default/wrong: ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dataa"',
  ])
  assert.equal(code, 1)
})

test('charts and kustomizations: what is checked as it is, and how to check the rest', () => {
  const { code, lines, summary } = check('chart kustomized')
  assert.deepEqual(lines, [
    'chart/Chart.yaml: notice: a Helm chart: its templates are not checked: helm template chart | gyro check -',
    'kustomized/kustomization.yaml: notice: built by kustomize: only its resources and crds are checked as they are: kubectl kustomize kustomized | gyro check -',
  ])
  assert.deepEqual([code, summary], [0, 'gyro check: 1 object in 1 file: all accepted'])
})

test('files that a pattern names with the others: what is no manifest is left out', () => {
  const { code, lines } = check(
    'kustomized/base.yaml kustomized/kustomization.yaml chart/values.yaml',
  )
  assert.deepEqual(lines, [
    'kustomized/kustomization.yaml: notice: not checked, as it is a kustomization: kubectl kustomize DIR | gyro check -',
    'chart/values.yaml: notice: not checked, as it is a part of a Helm chart: helm template DIR | gyro check -',
  ])
  assert.equal(code, 0)
})

test('a reader of its output that leaves is no failure of the check', () => {
  const many = Array.from({ length: 1000 }, (_, index) => map(`A${index}`)).join('---\n')
  const command = `"${join(repository, 'bin/gyro')}" check - | head -n 1`
  const { stdout, stderr } = spawnSync('sh', ['-c', command], { input: many, encoding: 'utf8' })
  assert.match(stdout, /^stdin:3:12: error: ConfigMap "A0" is invalid: [^\n]*\n$/)
  assert.equal(stderr, 'gyro check: 1000 objects in 1 file: 1000 refused; 1000 errors\n')
})

test('wrong use: one line, exit code 2', () => {
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling.yaml'))
  symlinkSync('crds', join(folder, 'looped', 'crds'))
  const rows: readonly (readonly [line: string, said: RegExp])[] = [
    ['', /^gyro: name files or folders, or - for standard input: /],
    ['-o yaml good', /^gyro: --output=yaml is not known: use text, json or github$/],
    ['--nosuch good', /^gyro: unknown flag --nosuch: see gyro check --help$/],
    ['-', /^gyro: no manifests in standard input$/],
    [
      'chart',
      /^gyro: no manifests in chart: chart\/Chart.yaml: a Helm chart: its templates are not checked: helm template chart \| gyro check -$/,
    ],
  ]
  for (const [line, said] of rows) {
    const { code, lines, summary } = check(line)
    assert.deepEqual([code, lines], [2, []], line)
    assert.match(summary, said)
  }
  const missing = check('nosuch.yaml dangling.yaml good/a.yaml')
  assert.equal(missing.code, 2)
  assert.deepEqual(missing.lines, [
    'nosuch.yaml: error: cannot be read: no such file or directory',
    'dangling.yaml: error: cannot be read: no such file or directory',
  ])
  assert.match(missing.summary, /^gyro check: 1 object in 1 file: 1 accepted; 2 errors$/)
  const looped = check('looped')
  assert.equal(looped.code, 2)
  assert.equal(looped.lines[0], 'looped/crds: error: cannot be read: too many links')
})
