/**
 * What npm would publish, used as from npm: packed, installed into an empty folder, and run there on the oldest Node that is
 * promised; with EVERY_NODE=1 (the nightly step `more-packages`) on the one between and on our own, too. The programs of the guides
 * are run as they are printed.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { repository } from '../end-to-end/gyro-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'gyropilot-packages-'))
const installed = join(folder, 'empty')
/** Under their major versions. */
const nodes = new Map<string, string>()
let tarballs: readonly string[] = []

before(() => {
  nodes.set('22', fetchedNode('22'))
  if (process.env.EVERY_NODE === '1') {
    nodes.set('24', fetchedNode('24'))
    nodes.set(process.versions.node.split('.')[0]!, process.execPath)
  }
  const build = join(repository, 'scripts/build-packages.ts')
  const printed = execFileSync(process.execPath, [build, join(folder, 'packages')])
  tarballs = printed.toString().trim().split('\n')
  mkdirSync(installed)
  npm(installed, 'init', '--yes')
  // Seen once on a busy machine: files of a tarball were not there after an install that ended well.
  for (let tries = 0; tries < 3 && leftOut().length !== 0; tries++) {
    rmSync(join(installed, 'node_modules'), { recursive: true, force: true })
    npm(installed, 'install', '--ignore-scripts', ...tarballs, '@types/node@22')
  }
  assert.deepEqual(leftOut(), [], 'npm install leaves files out')
})

/** Files of the tarballs that are not installed. */
function leftOut(): readonly string[] {
  return tarballs.flatMap((tarball) => {
    const { name } = manifestOf(tarball)
    return filesOf(tarball)
      .map((file) => join('node_modules', name, file.replace(/^package\//, '')))
      .filter((file) => !existsSync(join(installed, file)))
  })
}

function filesOf(tarball: string): readonly string[] {
  return execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n')
}
after(() => rmSync(folder, { recursive: true, force: true }))

function npm(cwd: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync('npm', [...args, '--no-audit', '--no-fund'], {
    cwd,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
}

/** Kept in the checkout: a Node is some 40 MB. */
function fetchedNode(major: string): string {
  const kept = join(repository, '.gyropilot', 'nodes', major)
  const program = join(kept, `node_modules/node-${process.platform}-${process.arch}/bin/node`)
  if (!existsSync(program)) {
    mkdirSync(kept, { recursive: true })
    writeFileSync(join(kept, 'package.json'), '{}')
    const name = `node-${process.platform}-${process.arch}@${major}`
    npm(kept, 'install', '--ignore-scripts', '--no-save', name)
  }
  return program
}

function run(node: string, args: readonly string[], cwd = installed): string {
  const { status, stdout, stderr } = spawnSync(node, args, {
    cwd,
    encoding: 'utf8',
    timeout: 120_000,
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  })
  assert.equal(status, 0, `${args.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

test('a tarball has what it publishes, its licence and no tests', () => {
  for (const tarball of tarballs) {
    const files = filesOf(tarball)
    assert.deepEqual(
      files.filter((file) => /\.test\.|\.ts$(?<!\.d\.ts)|fixtures|recorded/.test(file)),
      [],
      tarball,
    )
    for (const name of ['LICENSE', 'README.md', 'package.json'])
      assert.ok(files.includes(`package/${name}`), `${name} of ${tarball}`)
  }
})

test('every entry is there, with JavaScript and types', () => {
  const names = tarballs.map((tarball) => manifestOf(tarball))
  const entries = names.flatMap(({ name, exports = {} }) =>
    Object.keys(exports as object)
      .filter((entry) => !entry.includes('*'))
      .map((entry) => name + entry.slice(1)),
  )
  assert.ok(entries.length > 30)
  const used = [...entries, '@gyropilot/api/core-v1']
  writeFileSync(
    join(installed, 'all.mjs'),
    used
      .filter((entry) => !entry.endsWith('/main'))
      .map((one) => `import '${one}'`)
      .join('\n'),
  )
  for (const node of nodes.values()) run(node, ['all.mjs'])

  const typed = used.map((entry, i) => `import * as m${i} from '${entry}'\nexport { m${i} }`)
  writeFileSync(join(installed, 'all.ts'), typed.join('\n'))
  writeFileSync(join(installed, 'wrong.ts'), "import { nope } from '@gyropilot/client'\nnope()")
  // How modules are found and how strictly types are read have nothing to do with each other: each is tried in both ways.
  for (const [module, resolution, exact] of [
    ['nodenext', 'nodenext', 'true'],
    ['esnext', 'bundler', 'false'],
  ] as const) {
    assert.equal(compiled(['all.ts'], module, resolution, exact), '')
    assert.match(compiled(['wrong.ts'], module, resolution, exact), /has no exported member/)
  }
})

function manifestOf(tarball: string): { name: string; exports?: object } {
  return JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json']).toString())
}

/** Declarations of libraries are checked too. */
function compiled(
  files: readonly string[],
  module: string,
  resolution: string,
  exact: string,
): string {
  const flags = `--noEmit --strict --skipLibCheck false --target es2024 --lib es2024,esnext --types node --module ${module} --moduleResolution ${resolution} --exactOptionalPropertyTypes ${exact} --allowImportingTsExtensions`
  const tsc = join(repository, 'node_modules/.bin/tsc')
  return spawnSync(tsc, [...flags.split(' '), ...files], { cwd: installed, encoding: 'utf8' })
    .stdout
}

const guides = join(repository, 'docs/guides')
/** The named blocks of a guide are files. */
const programs = readdirSync(guides).flatMap((guide) => {
  const text = readFileSync(join(guides, guide), 'utf8')
  const files = [...text.matchAll(/^```ts (\S+\.ts)\n(.*?)^```$/gms)]
  return files.length === 0 ? [] : [{ guide, files }]
})
assert.ok(programs.length > 0)

for (const { guide, files } of programs) {
  test(`the program of ${guide} runs as it is printed, on each Node`, () => {
    const target = join(installed, guide)
    mkdirSync(target)
    for (const [, file = '', code = ''] of files) writeFileSync(join(target, file), code)
    writeFileSync(join(target, 'package.json'), '{"type":"module"}')
    const tests = files.map(([, file = '']) => file).filter((file) => file.endsWith('.test.ts'))
    assert.ok(tests.length > 0)
    // Whoever types strictly types the program strictly, too.
    const sources = files.map(([, file = '']) => join(guide, file))
    assert.equal(compiled(sources, 'nodenext', 'nodenext', 'true'), '')
    for (const node of nodes.values()) run(node, ['--test', ...tests], target)
  })
}

test('the commands run from the package, on each Node: a cluster starts, answers and ends', async () => {
  for (const [major, node] of nodes) {
    const gyro = join(installed, 'node_modules/.bin/gyropilot')
    assert.match(run(node, [gyro, 'version']), /^gyro v/)
    const kubeconfig = join(folder, `kubeconfig-${major}`)
    const args = ['up', '--port=0', `--kubeconfig=${kubeconfig}`, '--token=t', '--output=json']
    const up = spawn(node, [gyro, ...args, `--data-dir=${join(folder, `data-${major}`)}`], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let complaints = ''
    up.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
    const [line] = (await once(createInterface({ input: up.stdout }), 'line')) as [string]
    const { type, server } = JSON.parse(line) as { type: string; server: string }
    assert.equal(type, 'ready')
    const authority = /certificate-authority-data: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))
    writeFileSync(join(folder, 'ca.crt'), Buffer.from(authority![1]!, 'base64'))
    const asked = `import { request } from 'node:https'
      import { readFileSync } from 'node:fs'
      const ca = readFileSync(process.argv[2])
      const headers = { authorization: 'Bearer t' }
      request('${server}/api/v1/nodes', { ca, headers }, (a) => a.pipe(process.stdout)).end()`
    writeFileSync(join(folder, 'ask.mjs'), asked)
    const answer = run(node, [join(folder, 'ask.mjs'), join(folder, 'ca.crt')])
    assert.equal(JSON.parse(answer).items.length, 3)
    up.kill('SIGTERM')
    const [code] = (await once(up, 'exit')) as [number]
    assert.deepEqual([code, complaints], [0, ''], `Node ${major}`)
  }
})

test('manifests are checked from the package, on each Node', () => {
  const gyro = join(installed, 'node_modules/.bin/gyropilot')
  const input = 'apiVersion: v1\nkind: ConfigMap\nmetadata: &a {name: A}\n'
  for (const [major, node] of nodes) {
    const { status, stdout, stderr } = spawnSync(node, [gyro, 'check', '-'], {
      input,
      encoding: 'utf8',
    })
    assert.match(stdout, /^stdin:3:15: error: ConfigMap "A" is invalid: metadata.name: /, stderr)
    assert.deepEqual(
      [status, stderr],
      [1, 'gyro check: 1 object in 1 file: 1 refused; 1 error\n'],
      `Node ${major}`,
    )
  }
})

test('the stand-ins of envtest are found from the package', () => {
  const node = nodes.get('22')!
  const target = join(folder, 'assets')
  const printed = run(node, [
    join(installed, 'node_modules/.bin/gyropilot'),
    'envtest',
    `--dir=${target}`,
  ])
  assert.equal(printed.trimEnd(), target)
  for (const name of ['kube-apiserver', 'etcd'])
    assert.match(spawnSync(join(target, name), ['--help'], { encoding: 'utf8' }).stdout, /^\s*--/m)
})
