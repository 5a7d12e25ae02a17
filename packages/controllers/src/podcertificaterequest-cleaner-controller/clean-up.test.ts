import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Pod } from '@gyropilot/api'
import { SharedInformerFactory } from '@gyropilot/runtime'
import { drive, startLoop, testContext } from '@gyropilot/runtime/testing'
import type { Outcome } from '@gyropilot/runtime'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { podCertificateRequests } from './config.ts'
import {
  podCertificateRequestCleanerController,
  podCertificateRequestCleanerLogic,
} from './index.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000

interface Request extends KubernetesObject {
  readonly status?: object
}

function request(name: string, ageMs: number, condition?: string): Request {
  return {
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'PodCertificateRequest',
    metadata: {
      namespace: 'ns',
      name,
      uid: `${name}-uid`,
      resourceVersion: '7',
      creationTimestamp: new Date(NOW_MS - ageMs).toISOString(),
    },
    ...(condition && { status: { conditions: [{ type: condition, status: 'True' }] } }),
  }
}

function contextOf(cached: readonly KubernetesObject[] = [], gate?: boolean) {
  const featureGates: Record<string, boolean> = {}
  if (gate !== undefined) featureGates['PodCertificateRequest'] = gate
  return testContext({
    cached,
    configuration: { ...defaultControllersConfiguration, featureGates },
  })
}

function run(cached: readonly Request[], onWrite?: (index: number) => Outcome | undefined) {
  const context = contextOf(cached)
  const logic = podCertificateRequestCleanerLogic(context)
  const driven = drive(logic.round(), {
    nowMs: NOW_MS,
    ...(onWrite && { onWrite: (_, index) => onWrite(index) }),
  })
  return { writes: driven.writes, lines: context.logger.lines, logic }
}

const deletionOf = (name: string) => ({
  verb: 'delete',
  type: podCertificateRequests,
  namespace: 'ns',
  name,
  options: { preconditions: { uid: `${name}-uid` } },
})

test('Given a pending request within the threshold, when scanned, then it stays', () => {
  assert.deepEqual(run([request('a', 15 * MINUTE_MS - 1_000)]).writes, [])
})

test('Given a pending request older than the threshold, then DELETE with its uid', () => {
  assert.deepEqual(run([request('a', 15 * MINUTE_MS)]).writes, [deletionOf('a')])
})

test('Given a request with a terminal condition within the threshold, then it stays', () => {
  assert.deepEqual(run([request('a', 14 * MINUTE_MS, 'Issued')]).writes, [])
})

test('Given a request with a terminal condition older than the threshold, then DELETE', () => {
  assert.deepEqual(run([request('a', 16 * MINUTE_MS, 'Issued')]).writes, [deletionOf('a')])
})

test('Given DELETE returns 404, then no error is reported', () => {
  const { lines } = run([request('a', 16 * MINUTE_MS)], () => refused(404, 'NotFound'))
  assert.deepEqual(lines, [])
})

test('Given DELETE returns 500, then the error is reported and the following requests are still handled', () => {
  for (const code of [500, 409]) {
    const { lines, writes } = run(
      ['a', 'b'].map((name) => request(name, 16 * MINUTE_MS)),
      (index) => (index === 0 ? refused(code, 'Reason') : undefined),
    )
    assert.deepEqual(
      lines.map(({ severity, fields }) => [severity, fields['request']]),
      [['error', 'ns/a']],
    )
    assert.deepEqual(writes, [deletionOf('a'), deletionOf('b')])
  }
})

test('Given requests in Issued, Denied, Failed and pending state, all 16 minutes old, then all are deleted', () => {
  const states = ['Issued', 'Denied', 'Failed', undefined]
  const cached = states.map((state, index) => request(`r${index}`, 16 * MINUTE_MS, state))
  assert.equal(run(cached).writes.length, 4)
})

test('Given the gate is off, then the controller is skipped at start and no request to the API group is made', async () => {
  for (const gate of [undefined, false]) {
    const context = contextOf([], gate)
    const asked: unknown[] = []
    const informers = {
      ...context.informers,
      informer: (type: unknown): never => {
        asked.push(type)
        throw new Error('no informer is to be made')
      },
    }
    const { build } = podCertificateRequestCleanerController
    assert.equal(await build({ ...context, informers }), undefined)
    assert.deepEqual(asked, [])
  }
  assert.ok(await podCertificateRequestCleanerController.build(contextOf([], true)))
})

test('scans follow five minutes after each other, the first without waiting for the cache', () => {
  const { logic } = run([])
  assert.deepEqual([logic.periodMs, logic.caches], [5 * MINUTE_MS, []])
})

test('Given a cluster with the gate on, when a Pod uses a projected Pod certificate, then its request disappears within about 20 minutes and the Pod keeps working', async () => {
  const context = contextOf([], true)
  const { client, clock, random, logger } = context
  const pod = client.put(resources.pods, podWithCertificate())
  const informers = new SharedInformerFactory({ client, clock, random, logger })
  const controller = await podCertificateRequestCleanerController.build({ ...context, informers })
  const { stop } = startLoop(controller, clock, informers)

  // What the kubelet asks for and a signer answers.
  const issued = request('r', NOW_MS - clock.nowMs(), 'Issued')
  client.put(podCertificateRequests, issued)
  const isGone = (): boolean => client.list(podCertificateRequests, 'ns').length === 0
  await clock.advance(14 * MINUTE_MS)
  assert.ok(!isGone())
  assert.ok(await clock.advanceUntil(isGone, 7 * MINUTE_MS))
  assert.deepEqual(client.requested('delete')[0]?.options, {
    preconditions: { uid: 'r-uid' },
  })
  assert.deepEqual(client.list(resources.pods), [pod])

  await stop()
  await informers.shutdown()
})

function podWithCertificate(): Pod {
  const signerName = 'example.com/signer'
  const podCertificate = { signerName, keyType: 'ED25519', credentialBundlePath: 'bundle.pem' }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'ns', name: 'p' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'certificate', projected: { sources: [{ podCertificate }] } }],
    },
    status: { phase: 'Running' },
  } as Pod
}

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault, featureGates } =
    podCertificateRequestCleanerController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, featureGates],
    [
      'podcertificaterequest-cleaner-controller',
      [],
      'podcertificaterequestcleaner',
      true,
      ['PodCertificateRequest'],
    ],
  )
})
