import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceFiles } from '../source-files.ts'
import { LATE_MODULES, publishableManifest, withPublishedNames } from './publishable.ts'

test('a manifest names what is published, with types, and no entry for tests of the repository', () => {
  const manifest = publishableManifest({
    name: '@gyropilot/api',
    version: '1.2.3',
    description: 'Kinds.',
    license: 'Apache-2.0',
    exports: {
      '.': './src/index.ts',
      './testing': './src/testing/index.ts',
      './openapi/*': './openapi/openapi-v3/*',
      './*': './src/generated/*.ts',
    },
    dependencies: { yaml: '^2.0.0' },
  })
  assert.deepEqual(manifest, {
    name: '@gyropilot/api',
    version: '1.2.3',
    description: 'Kinds.',
    license: 'Apache-2.0',
    type: 'module',
    sideEffects: false,
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './openapi/*': './openapi/openapi-v3/*',
      './*': { types: './dist/generated/*.d.ts', default: './dist/generated/*.js' },
    },
    files: ['dist', 'openapi'],
    dependencies: { yaml: '^2.0.0' },
    engines: { node: '>=22.18' },
  })
})

test('the entries for tests that users have use for stay', () => {
  const manifest = publishableManifest({
    name: '@gyropilot/runtime',
    version: '1.0.0',
    license: 'Apache-2.0',
    exports: { './testing': './src/testing/index.ts' },
  }) as { exports: object }
  assert.deepEqual(Object.keys(manifest.exports), ['./testing'])
})

test('names of sources become names of what is published', () => {
  for (const [before, after] of [
    ["export * from './a.ts'", "export * from './a.js'"],
    ["import type { A } from '../b/a.ts'", "import type { A } from '../b/a.js'"],
    ["type A = import('./a.ts').A", "type A = import('./a.js').A"],
    [
      "createRequire(import.meta.url)('./index.ts')",
      "createRequire(import.meta.url)('./index.js')",
    ],
    ["import { a } from '@gyropilot/api'", "import { a } from '@gyropilot/api'"],
    ["const name = './a.ts'", "const name = './a.ts'"],
  ] as const)
    assert.equal(withPublishedNames(before), after)
})

test('every source that requires another of its own is known to the bundler', () => {
  const late = sourceFiles('packages').filter(({ text }) =>
    /createRequire\(import\.meta\.url\)\(\s*'\./.test(text),
  )
  assert.ok(late.length >= 3)
  for (const { path } of late) assert.match(`/${path}`, LATE_MODULES)
})
