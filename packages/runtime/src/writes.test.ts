import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import { apply, create, patch, remove, update, updateStatus } from './writes.ts'

const type = resources.pods
const pod: Pod = { metadata: { namespace: 'ns', name: 'p' }, spec: { containers: [] } }
const named = { type, namespace: 'ns', name: 'p' }

test('a write is data: the verb, the place, and what is sent', () => {
  assert.deepEqual(create(type, pod), { verb: 'create', type, namespace: 'ns', object: pod })
  assert.deepEqual(create(type, pod, { due: true, metadataOnly: true }), {
    ...create(type, pod),
    due: true,
    metadataOnly: true,
  })
  assert.deepEqual(update(type, pod, 'resize'), {
    verb: 'update',
    type,
    namespace: 'ns',
    object: pod,
    subresource: 'resize',
  })
  assert.deepEqual(updateStatus(type, pod), update(type, pod, 'status'))
  const value = { type: 'merge', value: { spec: {} } } as const
  assert.deepEqual(patch(type, pod, value, 'status'), {
    verb: 'patch',
    ...named,
    patch: value,
    subresource: 'status',
  })
  const options = { preconditions: { uid: 'u' } }
  assert.deepEqual(remove(type, pod, options), { verb: 'delete', ...named, options })
})

test('an apply takes over what others have', () => {
  assert.deepEqual(apply(type, pod, 'me', 'status'), {
    verb: 'apply',
    ...named,
    object: pod,
    fieldManager: 'me',
    force: true,
    subresource: 'status',
  })
})

test('of what has no name the name is empty, for the server to refuse', () => {
  for (const write of [
    patch(type, {}, { type: 'merge', value: {} }),
    apply(type, {}, 'me'),
    remove(type, {}),
  ])
    assert.deepEqual([write.namespace, 'name' in write && write.name], [undefined, ''])
  assert.deepEqual([create(type, {}).namespace, update(type, {}).namespace], [undefined, undefined])
})
