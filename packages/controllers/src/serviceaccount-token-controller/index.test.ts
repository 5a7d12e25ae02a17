import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Secret } from '@gyropilot/api'
import { startLoop, statusError, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import {
  MAX_RETRIES,
  QUEUE_NAME,
  REFERENCE_REMOVAL_PAUSE_MS,
  REFERENCE_REMOVAL_TRIES,
} from './config.ts'
import { CA_PEM, account, tokenSecret } from './fixtures.ts'
import { serviceAccountTokenController } from './index.ts'

const privateKeyPem = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString()

/** The controller at work; cache and server hold these. */
async function issuing(objects: readonly KubernetesObject[]) {
  const serviceAccountToken = { privateKeyPem, rootCaPem: CA_PEM, concurrentTokenSyncs: 2 }
  const context = testContext({
    name: 'serviceaccount-token-controller',
    configuration: { ...defaultControllersConfiguration, serviceAccountToken },
  })
  const { client, informers, clock } = context
  for (const object of objects) {
    const type = object.kind === 'Secret' ? resources.secrets : resources.serviceaccounts
    client.put(type, object)
  }
  for (const secret of client.list(resources.secrets)) informers.fill(secret)
  for (const known of client.list(resources.serviceaccounts)) informers.fill(known)
  const controller = await serviceAccountTokenController.build(context)
  const { stop } = startLoop(controller, clock)
  await clock.advance(0)
  return {
    ...context,
    stop,
  }
}

test('names are those of the page, and its client is the root one', () => {
  const { name, aliases, serviceAccount, enabledByDefault, usesRootClient } =
    serviceAccountTokenController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, usesRootClient],
    ['serviceaccount-token-controller', ['serviceaccount-token'], 'tokens-controller', true, true],
  )
})

test('settings are those of the page', () => {
  assert.deepEqual(defaultControllersConfiguration.serviceAccountToken, {
    privateKeyPem: '',
    rootCaPem: '',
    concurrentTokenSyncs: 5,
  })
  assert.deepEqual(
    [QUEUE_NAME, MAX_RETRIES, REFERENCE_REMOVAL_TRIES, REFERENCE_REMOVAL_PAUSE_MS],
    ['serviceaccount_tokens_service', 10, 10, 100],
  )
})

test('without a private key it does not run', () => {
  const context = testContext({ configuration: defaultControllersConfiguration })
  assert.equal(serviceAccountTokenController.build(context), undefined)
})

test('a Secret is filled with a token of the key and the CA', async () => {
  const world = await issuing([account(), tokenSecret()])
  const { data } = world.client.get(resources.secrets, 'ns', 'tok') as Secret
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString()
  assert.equal(text('ca.crt'), CA_PEM)
  assert.equal(text('token').split('.').length, 3)
  await world.stop()
})

test('a Secret of an account that goes is deleted', async () => {
  const world = await issuing([account(), tokenSecret({ data: { token: 'x', namespace: 'ns' } })])
  world.client.remove(resources.serviceaccounts, account())
  world.informers.remove(resources.serviceaccounts, account())
  await world.clock.advance(0)
  assert.equal(world.client.get(resources.secrets, 'ns', 'tok'), undefined)
  await world.stop()
})

test('a reference is tried to be taken off ten times, 100 to 200 ms apart, and what is left is told', async () => {
  const secret = tokenSecret({ data: { token: 'x', namespace: 'ns' } })
  const world = await issuing([account({ secrets: ['tok'] }), secret])
  const atMs: number[] = []
  world.client.onRequest = ({ verb, path }) => {
    if (verb !== 'update' || !path.includes('serviceaccounts')) return undefined
    atMs.push(world.clock.monotonicMs())
    throw statusError(409, 'Conflict', 'newer')
  }
  world.client.remove(resources.secrets, secret)
  world.informers.remove(resources.secrets, secret)
  for (let ms = 0; ms < 3_000; ms += 10) await world.clock.advance(10)
  assert.equal(atMs.length, 10)
  for (const [index, ms] of atMs.entries()) {
    const pauseMs = ms - (atMs[index - 1] ?? ms - 150)
    assert.ok(pauseMs >= 100 && pauseMs <= 210, `${pauseMs}`)
  }
  const [line, ...more] = world.logger.lines.filter(({ severity }) => severity === 'error')
  assert.deepEqual(more, [])
  assert.match(JSON.stringify(line), /ns\/tok.*ns\/robot/)
  await world.stop()
})
