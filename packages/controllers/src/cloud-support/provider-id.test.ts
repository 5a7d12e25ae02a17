import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InstanceNotFound, NotImplemented } from '@gyropilot/cloud-provider'
import { drive } from '@gyropilot/runtime/testing'
import { answers, node } from './fixtures.ts'
import { providerIdOf } from './provider-id.ts'

const asked = (answer: unknown) =>
  drive(providerIdOf(node('n'), { name: 'fake' }), {
    onOutside: answers({ 'instances.instanceId': answer }),
  })

test('the node says it itself', () => {
  const { effects, result } = drive(
    providerIdOf(node('n', { providerId: 'fake://own' }), { name: 'fake' }),
  )
  assert.deepEqual([effects, result], [[], { ok: true, object: 'fake://own' }])
})

test('else it is made of the provider and its instance, asked by the name of the node', () => {
  const { effects, result } = asked('i-1')
  const call = { name: 'instances.instanceId', arguments: ['n'] }
  assert.deepEqual(effects, [{ effect: 'outside', call }])
  assert.deepEqual(result, { ok: true, object: 'fake://i-1' })
})

test('an instance that is not there, or a cloud that does not know, is handed on; another error is told of', () => {
  for (const error of [new InstanceNotFound('n'), new NotImplemented('instances')]) {
    const { result } = asked(error)
    assert.ok(!result.ok && result.error === error)
  }
  const error = new Error('no route')
  const { result } = asked(error)
  assert.ok(!result.ok && result.error instanceof Error)
  assert.equal(result.error.message, 'failed to get instance ID from cloud provider: no route')
  assert.equal(result.error.cause, error)
})
