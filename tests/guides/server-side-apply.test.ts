/** The apply helpers of @gyropilot/runtime against the embedded API server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { hasCause, isConflict } from '@gyropilot/client'
import { createCluster } from '@gyropilot/cluster'
import { ControllerManager, applyObject, extractApplied } from '@gyropilot/runtime'
import type { ApplyConfiguration } from '@gyropilot/runtime'

type Applied = ApplyConfiguration<Deployment>

const US = { fieldOwner: 'us' }
const type = resources.deployments

const web = (spec: object): Applied =>
  ({ metadata: { namespace: 'default', name: 'web', labels: { app: 'web' } }, spec }) as Applied

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image }] },
})

const whole = web({
  replicas: 2,
  selector: { matchLabels: { app: 'web' } },
  template: template('nginx:1'),
})

test('Given apply by one owner, then extract, change, apply changes only its fields', async () => {
  const { client } = await createCluster({ seed: 'apply', nodes: 0, managers: 0 })
  const deployments = client.resource(type, 'default')
  await applyObject(client, type, whole, US)
  await deployments.patch(
    'web',
    { type: 'merge', value: { metadata: { annotations: { theirs: 'kept' } } } },
    { fieldManager: 'them' },
  )

  const ours = extractApplied(await deployments.get('web'), type, 'us')
  assert.deepEqual(
    ours,
    { apiVersion: 'apps/v1', kind: 'Deployment', ...whole },
    'no defaults, nothing of theirs',
  )
  const { replicas: _, ...spec } = ours.spec!
  await applyObject(
    client,
    type,
    { ...ours, spec: { ...spec, template: template('nginx:2') } } as Applied,
    US,
  )

  const changed = await deployments.get('web')
  assert.equal(changed.spec?.template.spec?.containers[0]?.image, 'nginx:2')
  assert.equal(changed.metadata?.annotations?.['theirs'], 'kept')
  assert.equal(changed.spec?.replicas, 1, 'left out and owned by nobody else: the default again')
  assert.deepEqual(extractApplied(changed, type, 'nobody'), {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'default', name: 'web' },
  })
})

test('a field of another owner is a conflict with its cause, unless it is forced; zero is a value, absent is none', async () => {
  const { client } = await createCluster({ seed: 'apply', nodes: 0, managers: 0 })
  await applyObject(client, type, whole, US)
  const zero = web({ replicas: 0 })
  await assert.rejects(applyObject(client, type, zero, { fieldOwner: 'them' }), (error) => {
    return isConflict(error) && hasCause(error, 'FieldManagerConflict')
  })
  const forced = await applyObject(client, type, zero, { fieldOwner: 'them', force: true })
  assert.equal(forced.spec?.replicas, 0)
  assert.equal(extractApplied(forced, type, 'us').spec?.replicas, undefined)
  assert.equal(extractApplied(forced, type, 'them').spec?.replicas, 0)
})

test('status is applied through its subresource, with fields owned apart; a resourceVersion makes it conditional', async () => {
  const { client } = await createCluster({ seed: 'apply', nodes: 0, managers: 0 })
  const created = await applyObject(client, type, whole, US)
  const metadata = { namespace: 'default', name: 'web' }
  const status = { metadata, status: { replicas: 2, observedGeneration: 1 } } as Applied
  const reported = await applyObject(client, type, status, { ...US, subresource: 'status' })
  assert.equal(reported.status?.replicas, 2)
  assert.deepEqual(extractApplied(reported, type, 'us', 'status').status, status.status)
  assert.equal(extractApplied(reported, type, 'us').spec?.replicas, 2)
  const { resourceVersion } = created.metadata!
  const old = { ...whole, metadata: { ...whole.metadata, resourceVersion } }
  await assert.rejects(applyObject(client, type, old, US), (error) => isConflict(error))
})

test('caches drop managedFields: extraction needs a live read', async () => {
  const { client, clock, random } = await createCluster({ seed: 'apply', nodes: 0, managers: 0 })
  const manager = new ControllerManager({ client, clock, random })
  const stop = new AbortController()
  const ended = manager.start(stop.signal)
  await applyObject(manager.client, type, whole, US)
  const reading = manager.client.resource(type, 'default').get('web')
  await clock.advance(100)
  assert.equal(extractApplied(await reading, type, 'us').spec, undefined)
  const live = await manager.live.resource(type, 'default').get('web')
  assert.equal(extractApplied(live, type, 'us').spec?.replicas, 2)
  stop.abort()
  await clock.advance(1_000)
  await ended
})
