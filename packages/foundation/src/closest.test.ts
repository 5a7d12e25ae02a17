import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closestTo, suggestion, suggestionOf } from './closest.ts'

const WORDS = ['job', 'port', 'nodes', 'data-dir', 'kubeconfig', 'output', 'v']

test('what somebody may have meant', () => {
  const table: readonly [string, string | undefined][] = [
    ['prot', 'port'],
    ['Node', 'nodes'],
    ['datadir', 'data-dir'],
    ['data_dir', 'data-dir'],
    ['kube-config', 'kubeconfig'],
    ['kubconfg', 'kubeconfig'],
    ['wholly-other', undefined],
    ['x', undefined],
    ['nods', 'nodes'],
    ['fort', 'port'],
    ['pods', undefined],
    ['foo', undefined],
    ['', undefined],
  ]
  for (const [word, wanted] of table) assert.equal(closestTo(word, WORDS), wanted, word)
})

test('a word that was cut short is known by its beginning, when it is the only one', () => {
  const flags = ['--data-dir', '--leader-elect-lease', '--leader-elect-retry', '--port']
  for (const [word, wanted] of [
    ['--data', ': did you mean --data-dir?'],
    ['--prot', ': did you mean --port?'],
    ['--da', ''],
    ['--leader', ''],
    ['--', ''],
  ] as const)
    assert.equal(suggestionOf(word, flags), wanted, word)
})

test('as the end of a message', () => {
  assert.equal(suggestion('prot', WORDS), ': did you mean port?')
  assert.equal(suggestion('wholly-other', WORDS), '')
})
