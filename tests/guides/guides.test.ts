/** The blocks of docs/guides that name a file (` ```ts controller.ts `) are a program: compiled, tested, run. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eventually, repository, startGyro } from '../end-to-end/gyro-process.ts'

const guides = join(repository, 'docs/guides')
const scratch = join(repository, '.tmp')
mkdirSync(scratch, { recursive: true })
/** Inside the repository, so that packages are found. */
const folder = mkdtempSync(join(scratch, 'guides-'))
after(() => rmSync(folder, { recursive: true }))

/** The named blocks of a guide, in a folder of their own. */
function extracted(guide: string): string {
  const target = join(folder, guide.replace(/\.md$/, ''))
  const text = readFileSync(join(guides, guide), 'utf8')
  mkdirSync(target)
  for (const [, file = '', code = ''] of text.matchAll(/^```ts (\S+\.ts)\n(.*?)^```$/gms)) {
    writeFileSync(join(target, file), code)
  }
  return target
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: 60_000,
    // A test run inside a test run reports to its parent otherwise.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  })
  assert.equal(status, 0, `${command} ${args.join(' ')}\n${stdout}${stderr}`)
}

const programs = new Map(
  readdirSync(guides)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name, extracted(name)] as const)
    .filter(([, target]) => readdirSync(target).length > 0),
)

test('the code of the guides compiles under the rules of the repository', () => {
  assert.ok(programs.has('write-a-controller.md'))
  const tsconfig = { extends: join(repository, 'tsconfig.json'), include: ['*/*.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  const tsc = join(repository, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(tsc, ['--noEmit', '-p', '.'], { cwd: folder, encoding: 'utf8' })
  // Sources of packages are compiled with them; their own errors are another check's.
  const errors = stdout.split('\n').filter((line) => /^[^. ].*\.ts\(/.test(line))
  assert.deepEqual(errors, [])
})

for (const [guide, target] of programs) {
  test(`the tests of ${guide} pass`, () => {
    const tests = readdirSync(target).filter((name) => name.endsWith('.test.ts'))
    assert.ok(tests.length > 0)
    run(process.execPath, ['--test', ...tests], target)
  })
}

test('the program of write-a-controller.md greets in a cluster, and stops when it is asked to', async () => {
  const gyro = await startGyro(['--nodes=0'])
  const child = spawn(process.execPath, ['main.ts'], {
    cwd: programs.get('write-a-controller.md'),
    env: { ...process.env, KUBECONFIG: gyro.kubeconfig },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  try {
    const path = '/apis/example.com/v1/namespaces/default/greetings'
    const body = {
      apiVersion: 'example.com/v1',
      kind: 'Greeting',
      metadata: { name: 'a' },
      spec: { who: 'world' },
    }
    await eventually('the kind is served', 20_000, async () => {
      const { status } = await gyro.request(path, { method: 'POST', body })
      return status === 201 || undefined
    })
    const text = await eventually('the status is written', 20_000, async () => {
      const { body: greeting } = await gyro.request(`${path}/a`)
      return greeting.status?.text as string | undefined
    })
    assert.equal(text, 'Hello, world!')
    const configMap = await gyro.request('/api/v1/namespaces/default/configmaps/a')
    assert.deepEqual(configMap.body.data, { text: 'Hello, world!' })
    assert.equal(configMap.body.metadata.ownerReferences[0].kind, 'Greeting')
    child.kill('SIGTERM')
    assert.equal(await exited, 0)
  } finally {
    child.kill('SIGKILL')
    await gyro.stop()
  }
})

/** `production`, `addCleanUp`, `addReferences` and the webhooks of the guide, in the same way. */
test('the further parts of write-a-controller.md work in a cluster on virtual time', () => {
  const target = programs.get('write-a-controller.md')!
  const source = readFileSync(join(import.meta.dirname, 'next-parts.ts'), 'utf8')
  writeFileSync(join(target, 'next-parts.test.ts'), source)
  run(process.execPath, ['--test', 'next-parts.test.ts'], target)
})
