/** The GitHub Action: its steps run with bash as a runner runs them, in an environment of their own. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { parse } from 'yaml'
import { kubectlBinary, repository } from './gyro-process.ts'

interface Step {
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  readonly run: string
}

const action = parse(readFileSync(join(repository, 'action.yml'), 'utf8')) as {
  inputs: Record<string, { default: string }>
  outputs: Record<string, { value: string }>
  runs: { using: string; steps: readonly Step[] }
}
const folder = mkdtempSync(join(tmpdir(), 'action-'))
const temporary = join(folder, 'temp')
const written = (name: string): string => readFileSync(join(folder, name), 'utf8')
const base = {
  HOME: folder,
  XDG_STATE_HOME: join(folder, 'state'),
  RUNNER_TEMP: temporary,
  GITHUB_PATH: join(folder, 'path'),
  GITHUB_ENV: join(folder, 'env'),
  GITHUB_OUTPUT: join(folder, 'output'),
}
const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`

after(() => {
  spawnSync(join(repository, 'bin/gyro'), ['down', '--all'], { env: { ...base, PATH: path } })
  rmSync(folder, { recursive: true })
})

/** Expressions are replaced as the runner does it: only in `env`, so that no input is ever a part of a script. */
function run(
  step: Step,
  inputs: Readonly<Record<string, string>>,
  searched: string,
  more: Readonly<Record<string, string>> = {},
) {
  assert.doesNotMatch(step.run, /\$\{\{/)
  const given: Record<string, string> = {}
  for (const [name, text] of Object.entries(step.env)) {
    given[name] = text.replace(/\$\{\{ (\S+) \}\}/, (_, expression: string) => {
      if (expression === 'github.action_path') return repository
      const input = expression.replace('inputs.', '')
      return inputs[input] ?? action.inputs[input]!.default
    })
  }
  const file = join(folder, 'step.sh')
  writeFileSync(file, step.run)
  const bash = ['--noprofile', '--norc', '-eo', 'pipefail', file]
  const env = { ...base, PATH: searched, ...given, ...more }
  return spawnSync('bash', bash, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 })
}

test('without inputs the action runs what gyro up runs', () => {
  const help = spawnSync(join(repository, 'bin/gyro'), ['up', '--help'], { encoding: 'utf8' })
  const shown = help.stdout.replaceAll(/\s+/g, ' ')
  for (const [flag, input] of [
    ['controllers', action.inputs['controllers']!],
    ['nodes', action.inputs['nodes']!],
  ] as const) {
    const ofUp = new RegExp(`--${flag} .*?Default: (\\S+)\\.(?: |$)`).exec(shown)?.[1]
    assert.equal(input.default, ofUp, flag)
  }
})

test('the steps install gyro, start a cluster that kubectl finds, and tell where it is', () => {
  mkdirSync(temporary)
  for (const name of ['path', 'env', 'output']) writeFileSync(join(folder, name), '')
  const [install, start, ...more] = action.runs.steps
  assert.deepEqual([action.runs.using, more], ['composite', []])
  const installed = run(install!, { version: 'checkout' }, path)
  assert.equal(installed.status, 0, installed.stderr)
  const searched = `${written('path').trim()}:${path}`

  const wrong = run(start!, { nodes: 'many' }, searched)
  assert.equal(wrong.status, 2)
  assert.equal(wrong.stderr, 'gyro: --nodes=many is not a whole number\n')

  const started = run(start!, { nodes: '1', args: '--port 0\n  --token=t\n' }, searched)
  assert.equal(started.status, 0, started.stderr)
  const outputs = new Map(
    written('output')
      .trim()
      .split('\n')
      .map((line) => line.split('=', 2) as [string, string]),
  )
  assert.deepEqual([...outputs.keys()].toSorted(), Object.keys(action.outputs).toSorted())
  assert.match(readFileSync(outputs.get('log')!, 'utf8'), /ready in/)
  const [, kubeconfig = ''] = /^KUBECONFIG=(.*)$/m.exec(written('env')) ?? []
  assert.equal(kubeconfig, outputs.get('kubeconfig'))
  const env = { ...base, PATH: path, KUBECONFIG: kubeconfig }
  const nodes = spawnSync(kubectlBinary, ['get', 'nodes'], { env, encoding: 'utf8' })
  assert.match(nodes.stdout, /^node-1 +Ready /m)
  assert.match(readFileSync(kubeconfig, 'utf8'), /^ *token: "t"$/m, 'flags of the second line')
})

test('a Node that is too old is told of, with what to do', () => {
  const old = join(folder, 'old')
  mkdirSync(old)
  // Judges as the version that it says it is.
  const script = `#!/bin/sh
if [ "$1" = --version ]; then echo "v$OLD"; exit; fi
[ "$1" = -e ] || exit 1
exec '${process.execPath}' -e "Object.defineProperty(process.versions, 'node', { value: '$OLD' }); $2" "$3"
`
  writeFileSync(join(old, 'node'), script, { mode: 0o755 })
  const judged = (version: string, has: string): string => {
    const searched = `${old}:${path}`
    return run(action.runs.steps[0]!, { version }, searched, { OLD: has }).stdout
  }
  const needs = (oldest: string, has: string): string =>
    `::error::gyropilot needs Node ${oldest} or newer, found v${has}: run actions/setup-node before\n`
  assert.equal(judged('latest', '18.0.0'), needs('22.18', '18.0.0'))
  assert.equal(judged('latest', '22.17.9'), needs('22.18', '22.17.9'))
  assert.equal(judged('checkout', '18.20.0'), needs('20', '18.20.0'))
  assert.equal(judged('checkout', '20.9.0'), '')
})
