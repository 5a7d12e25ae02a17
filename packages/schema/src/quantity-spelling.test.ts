import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spelledAs } from './quantity-spelling.ts'

const pod = (limits: Record<string, string>, labels = {}) => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', resources: { limits } }] },
})

test('equal amounts are spelled alike, other amounts and other texts stay', () => {
  const before = pod({ cpu: '4', memory: '1024', storage: '1' }, { size: '4' })
  const now = pod({ cpu: '+4', memory: '1Ki', storage: '2' }, { size: '+4' })
  assert.deepEqual(
    spelledAs(before, now, 'v1', 'Pod'),
    pod({ cpu: '+4', memory: '1Ki', storage: '1' }, { size: '4' }),
  )
})

test('what is spelled alike is handed back as it is, as are kinds that are not built in', () => {
  const before = pod({ cpu: '4' })
  assert.equal(spelledAs(before, pod({ cpu: '5' }), 'v1', 'Pod'), before)
  assert.equal(spelledAs(before, { spec: { containers: null } }, 'v1', 'Pod'), before)
  assert.equal(spelledAs(before, pod({ cpu: '+4' }), 'example.com/v1', 'Pod'), before)
  assert.equal(spelledAs(before, pod({ cpu: '+4' }), 'v1', 'ConfigMap'), before)
})

test('keys that every object inherits are keys', () => {
  const hard = JSON.parse('{"__proto__":"4","constructor":"4"}') as Record<string, string>
  const spelled = spelledAs(
    { spec: { hard } },
    { spec: { hard: JSON.parse('{"__proto__":"+4"}') as unknown } },
    'v1',
    'ResourceQuota',
  )
  assert.equal(JSON.stringify(spelled), '{"spec":{"hard":{"__proto__":"+4","constructor":"4"}}}')
})
