import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { release } from './release.ts'
import type { Request, Tools } from './release.ts'
import { toolsOfNpm } from './tools.ts'

let root: string
let published: string[]
let said: string[]

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gyropilot-release-test-'))
  published = []
  said = []
  const base = { name: 'p', version: '0.1.0', private: true, workspaces: ['packages/*'] }
  write('package.json', base)
  write('packages/a/package.json', { name: '@p/a', version: '0.1.0' })
  const dependencies = { '@p/a': '0.1.0' }
  write('packages/gyro/package.json', { name: '@p/gyro', version: '0.1.0', dependencies })
  write('packages/gyro/src/version.ts', "export const VERSION = '0.1.0'\n")
  write('.gitignore', 'node_modules/\n')
  write('package-lock.json', {
    name: 'p',
    version: '0.1.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'p', version: '0.1.0', workspaces: ['packages/*'] },
      'node_modules/@p/a': { resolved: 'packages/a', link: true },
      'node_modules/@p/gyro': { resolved: 'packages/gyro', link: true },
      'packages/a': { name: '@p/a', version: '0.1.0' },
      'packages/gyro': { name: '@p/gyro', version: '0.1.0', dependencies },
    },
  })
  git('init', '--quiet', '--initial-branch=main')
  git('config', 'user.name', 'A Person')
  git('config', 'user.email', 'person@example.com')
  commit('feat(a): first')
})

afterEach(() => rmSync(root, { recursive: true }))

function write(path: string, content: object | string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
  writeFileSync(join(root, path), text)
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
}

function commit(message: string): void {
  git('add', '--all')
  git('commit', '--quiet', '--allow-empty', '--message', message)
}

/** Packs manifests alone; sets the versions of manifests, and leaves the lock file. */
const tools: Tools = {
  install: () => {},
  setVersions: (checkout, version) => {
    for (const folder of ['', 'packages/a', 'packages/gyro']) {
      const path = join(checkout, folder, 'package.json')
      const manifest = JSON.parse(readFileSync(path, 'utf8')) as object
      writeFileSync(path, JSON.stringify({ ...manifest, version }))
    }
  },
  build: (checkout, target) =>
    readdirSync(join(checkout, 'packages'))
      .toReversed()
      .map((name) => {
        mkdirSync(target, { recursive: true })
        const [tarball, folder] = [join(target, `${name}.tgz`), join(checkout, 'packages', name)]
        const renamed = `--transform=s,^,package/,`
        execFileSync('tar', ['-czf', tarball, renamed, '-C', folder, 'package.json'])
        return tarball
      }),
  inspect: () => {},
  whoami: () => 'person',
  isPublished: () => false,
  publish: (tarball, distTag) => void published.push(`${tarball.split('/').at(-1)} ${distTag}`),
}

function run(request: Partial<Request> = {}, others: Partial<Tools> = {}): Promise<void> {
  const whole = { root, date: '2026-11-22', isDryRun: false, isResumed: false, ...request }
  return release(whole, { ...tools, ...others }, (line) => void said.push(line))
}

/** All that a release changes. */
function state(): readonly string[] {
  const files = git('ls-files').split('\n')
  return [
    git('for-each-ref'),
    git('status', '--porcelain'),
    git('worktree', 'list'),
    ...files.map((path) => readFileSync(join(root, path), 'utf8')),
  ]
}

test('a dry run makes everything, says it, and changes and publishes nothing', async () => {
  git('tag', 'v0.1.0')
  commit('fix(a): second')
  const before = state()
  const whoami = (): string => assert.fail('nobody publishes')
  await run({ isDryRun: true }, { whoami })
  assert.deepEqual(state(), before)
  assert.deepEqual(published, [])
  const [head] = git('rev-parse', '--short=7', 'HEAD').split('\n')
  assert.deepEqual(said, [
    'version   0.1.1 (tag v0.1.1)',
    `\n## 0.1.1 (2026-11-22)\n\n### Fixes\n\n- **a**: second (${head})\n`,
    'to publish, in this order:',
    '      0 kB  @p/a',
    '      0 kB  @p/gyro',
    'dry run: nothing is tagged or published, the checkout is as it was',
  ])
})

test('a release is one commit with every version and the changelog, its tag, and the packages in order', async () => {
  git('tag', 'v0.1.0')
  commit('feat(a): second')
  await run({}, { setVersions: toolsOfNpm.setVersions })
  assert.deepEqual(published, ['a.tgz latest', 'gyro.tgz latest'])
  assert.equal(git('log', '-2', '--format=%s'), 'build: release v0.2.0\nfeat(a): second')
  assert.equal(git('rev-parse', 'v0.2.0^{commit}'), git('rev-parse', 'main'))
  assert.equal(git('status', '--porcelain'), '')
  const changed = git('diff', '--name-only', 'HEAD~').split('\n')
  assert.deepEqual(changed, [
    'CHANGELOG.md',
    'package-lock.json',
    'package.json',
    'packages/a/package.json',
    'packages/gyro/package.json',
    'packages/gyro/src/version.ts',
  ])
  for (const path of changed)
    assert.doesNotMatch(readFileSync(join(root, path), 'utf8'), /0\.1\.0/, path)
})

test('the first release is the version that is there; a prerelease is not the latest', async () => {
  await run()
  assert.equal(git('tag'), 'v0.1.0')
  commit('fix: second')
  await run({ asked: '1.0.0-rc.1' })
  assert.deepEqual(published.slice(2), ['a.tgz next', 'gyro.tgz next'])
  assert.match(
    readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
    /^# Changelog\n\n## 1\.0\.0-rc\.1 .*second.*\n## 0\.1\.0 .*first/s,
  )
})

test('whatever fails before the tag leaves everything as it was', async () => {
  git('tag', 'v0.1.0')
  commit('fix(a): second')
  const before = state()
  const fail = (): never => {
    throw new Error('as asked')
  }
  for (const step of ['whoami', 'install', 'setVersions', 'build', 'inspect'] as const) {
    await assert.rejects(run({}, { [step]: fail }), { message: 'as asked' }, step)
    assert.deepEqual(state(), before, step)
  }
  // Somebody commits meanwhile.
  const install = (): void => commit('fix(a): third')
  await assert.rejects(run({}, { install }), { message: /fast-forward/ })
  assert.equal(git('tag'), 'v0.1.0')
  assert.deepEqual(published, [])
})

test('what cannot be released is refused in one line that says what to do', async () => {
  git('tag', 'v0.1.0')
  const refused = (message: string, request: Partial<Request> = {}): Promise<void> =>
    assert.rejects(run(request), { message })
  await refused('there is nothing to release: no commit since v0.1.0')
  commit('fix(a): second')
  await refused('0.1.0 is not higher than 0.1.0, the last release', { asked: '0.1.0' })
  await refused('no release is tagged here: first git switch --detach its tag, as in v1.2.3', {
    isResumed: true,
  })
  git('branch', 'other')
  git('tag', 'v0.1.1', git('commit-tree', 'HEAD^{tree}', '-m', 'beside'))
  await refused(
    'the tag v0.1.1 is there already: say a higher version, or npm run release -- --resume',
  )
  git('config', 'user.name', '')
  await refused('git does not know who you are: set user.name and user.email with git config')
  git('config', 'user.name', 'A Person')
  write('new', '')
  await refused('the checkout has changes: commit or stash them first: ?? new')
  git('switch', '--quiet', 'other')
  await refused('releases are made of main, not of other')
  git('switch', '--quiet', '--detach')
  await refused('releases are made of main, not of a detached HEAD')
})

test('publishing that stops half-way is said, and goes on with what is missing', async () => {
  const publish = (tarball: string): void => {
    if (tarball.endsWith('gyro.tgz')) throw new Error('npm publish ended with exit code 1')
  }
  await assert.rejects(run({}, { publish }), {
    message:
      '@p/gyro is not published, 1 of 2 are; go on with npm run release -- --resume: npm publish ended with exit code 1',
  })
  const before = state()
  const isPublished = (name: string, version: string): boolean =>
    `${name}@${version}` === '@p/a@0.1.0'
  await run({ isResumed: true }, { isPublished })
  assert.deepEqual(published, ['gyro.tgz latest'])
  assert.deepEqual(state(), before)
})
