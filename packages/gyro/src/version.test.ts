import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { VERSION } from './version.ts'

test('the version is that of the package', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  assert.equal(VERSION, (JSON.parse(text) as { version: string }).version)
})
