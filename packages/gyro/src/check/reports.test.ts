import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from './findings.ts'
import { reportGithub } from './report-github.ts'
import { reportText } from './report-text.ts'
import { exitCodeOf, summaryOf, summaryText } from './summary.ts'
import type { CheckedObject } from './check-documents.ts'

const web = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }
const finding = (changes: Partial<Finding> = {}): Finding => ({
  severity: 'error',
  file: 'a.yaml',
  line: 3,
  column: 5,
  message: 'Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
  object: web,
  ...changes,
})

const LINES: readonly (readonly [what: string, changes: Partial<Finding>, line: string])[] = [
  [
    'the words of the server',
    {},
    'a.yaml:3:5: error: Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1',
  ],
  [
    'which object, where the words do not say it',
    { severity: 'warning', message: 'old' },
    'a.yaml:3:5: warning: Deployment shop/web: old',
  ],
  [
    'no namespace where there is none',
    { message: 'old', object: { apiVersion: 'v1', kind: 'Node', name: 'n' } },
    'a.yaml:3:5: error: Node n: old',
  ],
  [
    'a whole file',
    { line: 0, column: 0, message: 'cannot be read: x', object: undefined },
    'a.yaml: error: cannot be read: x',
  ],
  [
    'the template of Helm',
    { template: 'web/templates/a.yaml' },
    'a.yaml:3:5: error: Deployment.apps "web" is invalid: spec.replicas: Invalid value: -1 (web/templates/a.yaml)',
  ],
]
for (const [what, changes, line] of LINES) {
  test(`a line tells ${what}`, () =>
    assert.equal(reportText([finding(changes)], false), `${line}\n`))
}

test('colors are for terminals', () => {
  const [place, severity] = reportText([finding()], true).split(' ')
  assert.deepEqual([place, severity], ['\x1b[1ma.yaml:3:5:\x1b[0m', '\x1b[31merror:\x1b[0m'])
})

test('annotations of GitHub are escaped', () => {
  const odd = finding({ file: 'a,b:c%.yaml', message: '100 %\nsure', severity: 'notice' })
  assert.equal(
    reportGithub([odd]),
    '::notice file=a%2Cb%3Ac%25.yaml,line=3,col=5,title=Deployment shop/web::Deployment shop/web: 100 %25%0Asure\n',
  )
  assert.equal(
    reportGithub([finding({ file: 'stdin', object: undefined, message: 'x' })]),
    '::error::stdin:3:5: x\n',
  )
  assert.equal(
    reportGithub([finding({ line: 0, column: 0, object: undefined, message: 'x' })]),
    '::error file=a.yaml::x\n',
  )
})

const objects = (...verdicts: CheckedObject['verdict'][]): CheckedObject[] =>
  verdicts.map((verdict) => ({ ...web, file: 'a.yaml', line: 1, verdict }))
const SUMMARIES: readonly (readonly [CheckedObject[], Finding[], string, number])[] = [
  [objects('accepted'), [], '1 object in 2 files: all accepted', 0],
  [
    objects('accepted', 'accepted'),
    [finding({ severity: 'warning' })],
    '2 objects in 2 files: all accepted; 1 warning',
    0,
  ],
  [
    objects('accepted', 'refused'),
    [finding(), finding()],
    '2 objects in 2 files: 1 accepted, 1 refused; 2 errors',
    1,
  ],
  [
    objects('not checked'),
    [finding({ severity: 'notice' })],
    '1 object in 2 files: 1 not checked',
    0,
  ],
  [[], [finding()], '0 objects in 2 files: 1 error', 1],
]
for (const [checked, findings, text, code] of SUMMARIES) {
  test(`${text}: exit code ${code}`, () => {
    const summary = summaryOf(2, checked, findings)
    assert.deepEqual([summaryText(summary), exitCodeOf(summary, false, false)], [text, code])
  })
}

test('warnings fail on request, and a file that could not be read whatever else there is', () => {
  const warned = summaryOf(1, objects('accepted'), [finding({ severity: 'warning' })])
  assert.deepEqual([exitCodeOf(warned, false, true), exitCodeOf(warned, true, true)], [1, 2])
})
