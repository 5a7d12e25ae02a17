/** Programs on this machine that stand behind Services of the cluster: the API server reaches them through their simulated pods. */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { eventually, startGyro } from './gyro-process.ts'
import type { GyroProcess } from './gyro-process.ts'
import { certificatesOfHook, encoded, hookRegistration, hookService } from './hook.ts'

const certificates = certificatesOfHook()
const caBundle = encoded(certificates.authority.certificatePem)
const METRICS = '/apis/external.metrics.k8s.io/v1beta1'
const QUEUE = `${METRICS}/namespaces/default/queue-length`
/** What an adapter of external metrics says. */
const OTHER_SERVER: Readonly<Record<string, object>> = {
  [METRICS]: {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: 'external.metrics.k8s.io/v1beta1',
    resources: [
      {
        name: 'queue-length',
        singularName: '',
        namespaced: true,
        kind: 'ExternalMetricValueList',
        verbs: ['get'],
      },
    ],
  },
  [QUEUE]: {
    kind: 'ExternalMetricValueList',
    apiVersion: 'external.metrics.k8s.io/v1beta1',
    metadata: {},
    items: [
      {
        metricName: 'queue-length',
        metricLabels: {},
        timestamp: '2026-01-01T00:00:00Z',
        value: '7',
      },
    ],
  },
}
const asked: string[] = []
let gyro: GyroProcess
let program: Server

before(async () => {
  const { certificatePem: cert, privateKeyPem: key } = certificates.serving
  program = createServer({ cert, key }, async (request, response) => {
    asked.push(request.url ?? '')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') {
      const value = OTHER_SERVER[request.url?.split('?')[0] ?? '']
      response.statusCode = value === undefined ? 404 : 200
      return void response.end(JSON.stringify(value ?? {}))
    }
    const review = JSON.parse(Buffer.concat(chunks).toString())
    const { uid, object } = review.request
    const allowed = object.data?.color !== 'green'
    const status = { code: 403, message: 'no green here' }
    response.end(JSON.stringify({ ...review, response: { uid, allowed, status } }))
  })
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
  gyro = await startGyro()
})

after(async () => {
  await gyro.stop()
  program.closeAllConnections()
  program.close()
})

/** The Service and the pod that lead to the program. */
function lead(): void {
  const { port } = program.address() as AddressInfo
  gyro.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'hook',
      labels: { app: 'hook' },
      annotations: { 'sim.kubelet/port-forward': `9443=127.0.0.1:${port}` },
    },
    spec: { containers: [{ name: 'hook', image: 'hook', ports: [{ containerPort: 9443 }] }] },
  })
  gyro.apply(hookService)
  gyro.ok('wait', '--for=condition=Ready', 'pod/hook', '--timeout=30s')
}

test('a webhook on this machine is asked through the Service and the pod that lead to it', async () => {
  lead()
  const { certificatePem } = certificates.authority
  gyro.apply(hookRegistration('ValidatingWebhookConfiguration', '/judge', certificatePem))
  const create = async (name: string, color: string) => {
    const body = { metadata: { name }, data: { color } }
    const answer = await gyro.request('/api/v1/namespaces/default/configmaps', {
      method: 'POST',
      body,
    })
    return `${answer.status} ${answer.body.message ?? ''}`
  }
  // Until its endpoint is known, who creates is told so.
  const refusal = await eventually('an answer', 10_000, async () => {
    const told = await create('meadow', 'green')
    return told.startsWith('500') ? undefined : told
  })
  assert.equal(
    refusal,
    '403 admission webhook "hook.example.com" denied the request: no green here',
  )
  assert.equal(await create('sky', 'blue'), '201 ')
  assert.deepEqual(new Set(asked), new Set(['/judge?timeout=10s']))

  gyro.ok('delete', 'pod', 'hook', '--now')
  const end = 'no endpoints available for service "hook"'
  await eventually(
    end,
    10_000,
    async () => (await create('sea', 'blue')).includes(end) || undefined,
  )
})

test('an autoscaler follows an external metric that a program on this machine serves behind an APIService', async () => {
  gyro.ok('delete', 'validatingwebhookconfiguration', 'hook')
  lead()
  gyro.apply({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: 'v1beta1.external.metrics.k8s.io' },
    spec: {
      group: 'external.metrics.k8s.io',
      version: 'v1beta1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { namespace: 'default', name: 'hook' },
      caBundle,
    },
  })
  gyro.ok('create', 'deployment', 'mill', '--image=mill')
  const metric = { name: 'queue-length', selector: { matchLabels: { app: 'mill' } } }
  gyro.apply({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'mill' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'mill' },
      maxReplicas: 9,
      metrics: [
        {
          type: 'External',
          external: { metric, target: { type: 'AverageValue', averageValue: '2' } },
        },
      ],
    },
  })
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  await gyro.until('four for a queue of seven', 60_000, deployments, (found) =>
    found.some(({ metadata, spec }) => metadata.name === 'mill' && spec.replicas === 4)
      ? true
      : undefined,
  )
  assert.ok(asked.some((url) => url.startsWith(`${QUEUE}?labelSelector=app%3Dmill`)))
  const listed = await gyro.request('/apis')
  assert.ok(
    listed.body.groups.some(({ name }: { name: string }) => name === 'external.metrics.k8s.io'),
  )
})
