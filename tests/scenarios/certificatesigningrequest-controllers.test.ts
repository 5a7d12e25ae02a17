/** Who asks for a certificate gets one, if somebody agrees: a whole cluster in virtual time. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { createClusterCertificates, createMemoryStore } from '@gyropilot/api-server'
import { ApiClient, memoryTransport } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { Cluster } from '@gyropilot/cluster'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import {
  SeededRandom,
  VirtualClock,
  settle,
  silentLogger,
  silentMetrics,
} from '@gyropilot/foundation'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import { scenario } from './scenario.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const TOKEN = { id: 'abcdef', secret: '0123456789abcdef' }
const NODE = { commonName: 'system:node:n1', organizations: ['system:nodes'] }

type Spec = CertificateSigningRequest['spec']

interface World {
  readonly clock: VirtualClock
  readonly admin: Client
  /** Speaks with the bootstrap token. */
  readonly newcomer: Client
}

/** Here certificates live a day at most. */
async function play(scene: (world: World) => Promise<void>): Promise<void> {
  const clock = new VirtualClock({ settle })
  const random = new SeededRandom('certificates')
  const common = { clock, logger: silentLogger, metrics: silentMetrics }
  const { certificateSigning } = defaultControllersConfiguration
  const certificates = createClusterCertificates({ clock, random })
  const source = { read: () => Promise.resolve(certificates.authority) }
  const authorities = {
    'kubernetes.io/kube-apiserver-client': source,
    'kubernetes.io/kube-apiserver-client-kubelet': source,
  }
  const cluster = new Cluster({
    ...common,
    random,
    store: createMemoryStore(clock),
    certificates,
    configuration: {
      certificateSigning: { ...certificateSigning, authorities, durationMs: 24 * HOUR_MS },
    },
  })
  await cluster.start()
  cluster.startControllerManager(['csrsigning', 'csrapproving', 'csrcleaner'])
  await clock.advance(5_000)
  const authorization = `Bearer ${TOKEN.id}.${TOKEN.secret}`
  const newcomer = new ApiClient({
    ...common,
    host: 'in-process',
    qps: -1,
    userAgent: 'kubelet',
    transport: memoryTransport((request) =>
      cluster.server.handle({ ...request, headers: { ...request.headers, authorization } }),
    ),
  })
  const admin = cluster.client()
  await createBootstrapToken(admin)
  await scene({ clock, admin, newcomer })
  await cluster.stop(0)
}

async function createBootstrapToken(admin: Client): Promise<void> {
  await admin.resource(resources.secrets, 'kube-system').create({
    metadata: { name: `bootstrap-token-${TOKEN.id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': TOKEN.id,
      'token-secret': TOKEN.secret,
      'usage-bootstrap-authentication': 'true',
    },
  })
  await bind(admin, 'system:node-bootstrapper')
}

async function bind(admin: Client, role: string): Promise<void> {
  await admin.resource(resources.clusterrolebindings).create({
    metadata: { name: role },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:bootstrappers' },
    ],
  })
}

const requests = (client: Client) => client.resource(resources.certificatesigningrequests)

async function ask(
  client: Client,
  name: string,
  pem: string,
  spec: Partial<Spec> = {},
): Promise<CertificateSigningRequest> {
  return requests(client).create({
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
      ...spec,
    },
  })
}

async function approve(client: Client, name: string): Promise<void> {
  const object = await requests(client).get(name)
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: '' }]
  await requests(client).update({ ...object, status: { conditions } }, { subresource: 'approval' })
}

const types = ({ status }: CertificateSigningRequest): readonly string[] =>
  (status?.conditions ?? []).map(({ type }) => type)

const certificateOf = ({ status }: CertificateSigningRequest): X509Certificate | undefined =>
  status?.certificate === undefined
    ? undefined
    : new X509Certificate(Buffer.from(status.certificate, 'base64'))

test('Given a bootstrap user allowed `nodeclient`, then its CSR is approved; not allowed: stays pending', async () => {
  await play(async ({ clock, admin, newcomer }) => {
    await ask(newcomer, 'n1', signingRequestPem(NODE))
    await clock.advance(5_000)
    assert.deepEqual(types(await requests(admin).get('n1')), [])
    await bind(admin, 'system:certificates.k8s.io:certificatesigningrequests:nodeclient')
    // The permission that came later is found by a retry.
    await clock.advance(20_000)
    const object = await requests(admin).get('n1')
    assert.deepEqual(types(object), ['Approved'])
    assert.equal(object.status?.conditions?.[0]?.reason, 'AutoApproved')
    assert.equal(object.spec.username, 'system:bootstrap:abcdef')
    assert.equal(certificateOf(object)?.subject, 'O=system:nodes\nCN=system:node:n1')
  })
})

const validities: readonly (readonly [hours: number, totalMs: number])[] = [
  [2, 2 * HOUR_MS + 5 * MINUTE_MS],
  [20, 20 * HOUR_MS],
  [30, 24 * HOUR_MS],
]
test('Given TTL 24h in a cluster and request 2h, 20h, 30h, then validity 2h+5m, 20h, 24h in total', async () => {
  await play(async ({ clock, admin }) => {
    for (const [hours, totalMs] of validities) {
      const name = `for-${hours}h`
      await ask(admin, name, signingRequestPem({ commonName: 'bob' }), {
        signerName: 'kubernetes.io/kube-apiserver-client',
        expirationSeconds: hours * 3600,
      })
      await approve(admin, name)
      await clock.advance(1_000)
      const certificate = certificateOf(await requests(admin).get(name))
      assert.ok(certificate)
      const { validFromDate, validToDate } = certificate
      assert.equal(validToDate.getTime() - validFromDate.getTime(), totalMs, name)
    }
  })
})

test('a request that breaks a rule of its signer fails for good, and nothing is signed that no signer here is for', async () => {
  await play(async ({ clock, admin }) => {
    await ask(admin, 'bad', signingRequestPem({ commonName: 'bob' }))
    const serving = { signerName: 'kubernetes.io/kubelet-serving' }
    await ask(admin, 'unserved', signingRequestPem({ ...NODE, dnsNames: ['n1'] }), serving)
    await approve(admin, 'bad')
    await approve(admin, 'unserved')
    await clock.advance(60_000)
    const bad = await requests(admin).get('bad')
    assert.deepEqual(types(bad), ['Approved', 'Failed'])
    assert.equal(
      bad.status?.conditions?.at(-1)?.message,
      'subject organization is not system:nodes',
    )
    assert.deepEqual(types(await requests(admin).get('unserved')), ['Approved'])
  })
})

test('requests go when they are over: issued and denied ones within hours, pending ones within days', async () => {
  await play(async ({ clock, admin }) => {
    const pem = signingRequestPem({ commonName: 'bob' })
    const spec = { signerName: 'kubernetes.io/kube-apiserver-client' }
    for (const name of ['pending', 'issued']) await ask(admin, name, pem, spec)
    await approve(admin, 'issued')
    const names = async () =>
      (await requests(admin).list()).items.map(({ metadata }) => metadata?.name)
    await clock.advance(HOUR_MS - MINUTE_MS)
    assert.deepEqual(await names(), ['issued', 'pending'])
    await clock.advance(HOUR_MS + MINUTE_MS)
    assert.deepEqual(await names(), ['pending'])
    await clock.advance(24 * HOUR_MS)
    assert.deepEqual(await names(), [])
  })
})

scenario(
  'a simulated cluster signs too',
  async (world) => {
    await ask(world.client, 'bob', signingRequestPem({ commonName: 'bob' }), {
      signerName: 'kubernetes.io/kube-apiserver-client',
    })
    await approve(world.client, 'bob')
    await world.until('the certificate is there', 5_000, async () =>
      certificateOf(await requests(world.client).get('bob')),
    )
  },
  { controllers: ['csrsigning'], nodes: 0 },
)
