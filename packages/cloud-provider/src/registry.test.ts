import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom, silentLogger } from '@gyropilot/foundation'
import { testClock } from '@gyropilot/runtime/testing'
import { InMemoryCloud } from './in-memory/index.ts'
import { ProviderRegistry } from './registry.ts'

const settings = {
  config: 'zone: a',
  clock: testClock(),
  random: new SeededRandom('test'),
  logger: silentLogger,
}

test('a provider is made by its name, from the text of its config', async () => {
  const given: (string | undefined)[] = []
  const registry = new ProviderRegistry().register('loop', ({ config, clock }) => {
    given.push(config)
    return new InMemoryCloud({ clock, name: 'loop' })
  })
  assert.equal((await registry.create('loop', settings)).name, 'loop')
  assert.deepEqual(given, ['zone: a'])
  assert.equal(registry.has('loop'), true)
  assert.equal(registry.has('other'), false)
})

test('an unknown name is refused with the names that are known', async () => {
  const factory = (): never => assert.fail()
  const registry = new ProviderRegistry().register('tail', factory).register('loopback', factory)
  await assert.rejects(registry.create('loopbak', settings), {
    code: 'CLOUD_PROVIDER_UNKNOWN',
    message: 'unknown cloud provider "loopbak": registered: loopback, tail: did you mean loopback?',
  })
  await assert.rejects(new ProviderRegistry().create('x', settings), {
    message: 'unknown cloud provider "x": none is registered',
  })
})

test('what a provider says of its config ends in one error', async () => {
  const registry = new ProviderRegistry().register('loop', () => {
    throw new Error('line 1: no zone')
  })
  await assert.rejects(registry.create('loop', settings), {
    code: 'CLOUD_PROVIDER_FAILED',
    message: 'could not init cloud provider "loop": line 1: no zone',
  })
})

test('two providers of one name are a mistake of the program', () => {
  const registry = new ProviderRegistry().register('loop', () => assert.fail())
  assert.throws(() => registry.register('loop', () => assert.fail()), /registered twice/)
})
