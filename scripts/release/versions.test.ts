import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Publishable } from './versions.ts'
import { nextVersion, publishOrder, withVersionConstant, withVersionsOf } from './versions.ts'

const quiet = { current: '0.1.0', isBreaking: false, hasFeatures: false }

test('the next version is what was asked for, or what the commits say', () => {
  for (const [asked, since, next] of [
    [undefined, quiet, '0.1.0'],
    ['minor', quiet, '0.2.0'],
    ['0.1.0', quiet, '0.1.0'],
    [undefined, { ...quiet, released: '0.1.0' }, '0.1.1'],
    [undefined, { ...quiet, released: '0.1.0', hasFeatures: true }, '0.2.0'],
    [undefined, { ...quiet, released: '0.1.9', isBreaking: true }, '0.2.0'],
    [undefined, { ...quiet, released: '1.1.9', isBreaking: true, hasFeatures: true }, '2.0.0'],
    ['patch', { ...quiet, released: '0.1.0', hasFeatures: true }, '0.1.1'],
    ['major', { ...quiet, released: '0.1.0' }, '1.0.0'],
    ['1.0.0-rc.1', { ...quiet, released: '0.9.0' }, '1.0.0-rc.1'],
    ['1.0.0', { ...quiet, released: '1.0.0-rc.1' }, '1.0.0'],
    ['patch', { ...quiet, released: '1.0.0-rc.1' }, '1.0.0'],
  ] as const)
    assert.equal(nextVersion(asked, since), next, `${asked} after ${JSON.stringify(since)}`)
})

test('what is no version, or not higher, is refused', () => {
  const since = { ...quiet, released: '0.2.0' }
  for (const asked of ['0.2.0', '0.1.9', '0.2.0-rc.1'])
    assert.throws(() => nextVersion(asked, since), {
      message: `${asked} is not higher than 0.2.0, the last release`,
    })
  for (const asked of ['v0.3.0', '1', 'latest', '01.0.0', ''])
    assert.throws(() => nextVersion(asked, since), {
      message: `${asked} is no version: say patch, minor, major, or one such as 1.2.3`,
    })
})

test('packages name each other by the new version, and others as before', () => {
  const manifest = {
    name: '@p/b',
    dependencies: { '@p/a': '0.1.0', yaml: '^2.0.0' },
    devDependencies: { '@p/a': '0.1.0' },
    engines: { node: '>=24' },
  }
  const changed = withVersionsOf(manifest, new Set(['@p/a', '@p/b']), '0.2.0')
  assert.deepEqual(changed, {
    ...manifest,
    dependencies: { '@p/a': '0.2.0', yaml: '^2.0.0' },
    devDependencies: { '@p/a': '0.2.0' },
  })
  assert.deepEqual(Object.keys(changed), Object.keys(manifest))
  assert.deepEqual(withVersionsOf({}, new Set(['@p/a']), '0.2.0'), {})
})

test('the constant is the one line that changes', () => {
  const source = "// why\nexport const VERSION = '0.1.0'\nexport const OTHER = '1.36.0'\n"
  assert.equal(withVersionConstant(source, '0.2.0'), source.replace('0.1.0', '0.2.0'))
  assert.throws(() => withVersionConstant('', '0.2.0'), { message: /has no line/ })
})

test('dependencies are published before those that need them', () => {
  const names = (packages: readonly Publishable[]) => publishOrder(packages).map(({ name }) => name)
  const packages: readonly Publishable[] = [
    { name: 'gyropilot', dependencies: { ws: '^8.0.0' } },
    { name: 'a', dependencies: { b: '1.0.0', c: '1.0.0' } },
    { name: 'c' },
    { name: 'b', dependencies: { c: '1.0.0' } },
  ]
  assert.deepEqual(names(packages), ['c', 'b', 'a', 'gyropilot'])
  assert.deepEqual(names(packages.toReversed()), ['c', 'b', 'a', 'gyropilot'])
  const circle: readonly Publishable[] = [
    { name: 'a', dependencies: { b: '1.0.0' } },
    { name: 'b', dependencies: { a: '1.0.0' } },
  ]
  assert.throws(() => publishOrder(circle), {
    message: 'packages depend on each other in a circle: a, b',
  })
})
