/** Requests for certificates: who is approved, what is signed, and when they go. */
import { X509Certificate } from 'node:crypto'
import type { CertificateSigningRequest, PodCertificateRequest } from '@gyropilot/api'
import { resources, resourcesOnRequest } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { untilSo } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const HOUR_MS = 3_600_000
const KUBELET = 'kubernetes.io/kube-apiserver-client-kubelet'
const CLIENT = 'kubernetes.io/kube-apiserver-client'
const FOREIGN = 'example.com/signer'
const USAGES = ['digital signature', 'client auth'] as const

/** Common name `system:node:n1`, organization `system:nodes`. Ed25519: its signature has no chance in it. */
const NODE_REQUEST_PEM = `-----BEGIN CERTIFICATE REQUEST-----
MIGvMGMCAQAwMDEVMBMGA1UECgwMc3lzdGVtOm5vZGVzMRcwFQYDVQQDDA5zeXN0
ZW06bm9kZTpuMTAqMAUGAytlcAMhABbn16qSzDmCgJ2nHWWMzRr6zzjmGbASvrpy
GMrDB8izoAAwBQYDK2VwA0EAWn2NirDVaxJGEmlLI9lFrmLvC8H0+zeNwwow6JoZ
mnG+P5KD+wtYYY7y1EmOknczUDwWa1eaIebfdGTUGbZdAg==
-----END CERTIFICATE REQUEST-----
`

function request(
  name: string,
  signerName: string,
  spec: Partial<CertificateSigningRequest['spec']> = {},
): CertificateSigningRequest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request: btoa(NODE_REQUEST_PEM), signerName, usages: [...USAGES], ...spec },
  }
}

const find = (cluster: SimulatedCluster, name: string) =>
  cluster.objects.find(resources.certificatesigningrequests, undefined, name)

/** As `kubectl certificate approve` and `deny`, `agoMs` ago. */
async function decide(
  cluster: SimulatedCluster,
  name: string,
  type: 'Approved' | 'Denied',
  agoMs = 0,
): Promise<void> {
  const atText = formatTime(cluster.clock.nowMs() - agoMs)
  const decision = { type, status: 'True', reason: 'ByHand', lastUpdateTime: atText }
  await cluster.patch(
    resources.certificatesigningrequests,
    undefined,
    name,
    { type: 'merge', value: { status: { conditions: [decision] } } },
    { subresource: 'approval' },
  )
}

/** The conditions, and whether there is a certificate. */
function stateOf(cluster: SimulatedCluster, name: string): string {
  const { certificate, conditions = [] } = find(cluster, name)?.status ?? {}
  const said = conditions.map(({ type, reason }) => `${type} ${reason}`)
  return [...said, ...(certificate ? ['certificate'] : [])].join(', ')
}

const untilIs = (cluster: SimulatedCluster, name: string, state: string) =>
  untilSo(cluster, `${name} is ${state}`, () => stateOf(cluster, name) === state)

const APPROVED_ALONE = 'Approved AutoApproved, certificate'
const APPROVED_BY_HAND = 'Approved ByHand, certificate'
const REFUSED = 'Approved ByHand, Failed SignerValidationFailure'

const deciding: Scenario = {
  name: 'certificates are approved, signed, refused and left to others',
  controllers: [
    'certificatesigningrequest-approving-controller',
    'certificatesigningrequest-signing-controller',
  ],
  nodes: 0,
  async play(cluster) {
    await cluster.create(request('kubelet', KUBELET))
    await cluster.create(request('greedy', KUBELET, { usages: [...USAGES, 'server auth'] }))
    await cluster.create(request('client', CLIENT, { expirationSeconds: 3_600 }))
    await cluster.create(request('denied', CLIENT))
    await cluster.create(request('foreign', FOREIGN))
    await untilIs(cluster, 'kubelet', APPROVED_ALONE)
    await decide(cluster, 'greedy', 'Approved')
    await decide(cluster, 'client', 'Approved')
    await decide(cluster, 'denied', 'Denied')
    await decide(cluster, 'foreign', 'Approved')
    await untilIs(cluster, 'client', APPROVED_BY_HAND)
    await untilIs(cluster, 'greedy', REFUSED)
  },
  *ends(cluster) {
    const wanted = {
      kubelet: APPROVED_ALONE,
      greedy: REFUSED,
      client: APPROVED_BY_HAND,
      denied: 'Denied ByHand',
      foreign: 'Approved ByHand',
    }
    for (const [name, state] of Object.entries(wanted))
      if (stateOf(cluster, name) !== state) yield `${name} is ${stateOf(cluster, name)}`
    yield* isGoodFor(cluster, 'kubelet', 365 * 24 * HOUR_MS)
    // Of a short life the start alone is before its time.
    yield* isGoodFor(cluster, 'client', HOUR_MS + 5 * 60_000)
  },
}

function* isGoodFor(cluster: SimulatedCluster, name: string, lifeMs: number): Iterable<string> {
  const { certificate = '' } = find(cluster, name)?.status ?? {}
  if (certificate === '') return
  const { subject, validFromDate, validToDate } = new X509Certificate(atob(certificate))
  if (subject !== 'O=system:nodes\nCN=system:node:n1') yield `${name} is about ${subject}`
  const foundMs = validToDate.getTime() - validFromDate.getTime()
  if (foundMs !== lifeMs) yield `${name} is good for ${foundMs} ms and not ${lifeMs}`
}

const POD_REQUESTS = resourcesOnRequest.podcertificaterequests

/** For a key that its pod has: the request is of a node, but nobody looks at its subject. */
function requestOfPod(name: string): PodCertificateRequest {
  return {
    metadata: { name, namespace: 'default' },
    spec: {
      signerName: FOREIGN,
      podName: 'p',
      podUID: 'p-uid',
      serviceAccountName: 'default',
      serviceAccountUID: 'default-uid',
      nodeName: 'n1',
      nodeUID: 'n1-uid',
      stubPKCS10Request: NODE_REQUEST_PEM.replaceAll(/-----[^-]*-----|\n/g, ''),
    },
  }
}

const countOfPods = (cluster: SimulatedCluster): number =>
  cluster.objects.all(POD_REQUESTS, 'default').length

const namesOf = (cluster: SimulatedCluster): string =>
  cluster.objects
    .all(resources.certificatesigningrequests)
    .map(({ metadata }) => metadata?.name)
    .toSorted()
    .join()

const YOUNG = 'new,pending'
const POD_REQUEST_LIFE_MS = 15 * 60_000

const aging: Scenario = {
  name: 'requests for certificates go when they are old',
  controllers: [
    'certificatesigningrequest-cleaner-controller',
    'podcertificaterequest-cleaner-controller',
  ],
  nodes: 0,
  featureGates: { PodCertificateRequest: true },
  runtimeConfig: { 'certificates.k8s.io/v1beta1': true },
  async play(cluster) {
    await cluster.create(request('pending', FOREIGN))
    await cluster.create(request('short', KUBELET, { expirationSeconds: 600 }))
    await cluster.create(request('waiting', FOREIGN))
    await decide(cluster, 'waiting', 'Approved', 23.5 * HOUR_MS)
    await cluster.create(request('new', FOREIGN))
    await decide(cluster, 'new', 'Approved')
    await cluster.create(request('old', FOREIGN))
    await decide(cluster, 'old', 'Denied', 2 * HOUR_MS)
    await cluster.client.resource(POD_REQUESTS, 'default').create(requestOfPod('of-a-pod'))
    await cluster.advance(POD_REQUEST_LIFE_MS - 5_000)
    if (countOfPods(cluster) !== 1) throw new Error('the request of a pod went too early')
    // What one scan does not come to, the next does: every five minutes, and every hour.
    const hasGone = (): boolean => countOfPods(cluster) === 0
    if (!(await cluster.until(hasGone, 0.25 * HOUR_MS))) throw new Error('it never went')
    await cluster.until(() => namesOf(cluster) === YOUNG, 2.2 * HOUR_MS)
  },
  *ends(cluster) {
    if (namesOf(cluster) !== YOUNG) yield `the requests ${namesOf(cluster)} are left`
  },
}

export const certificateScenarios: readonly Scenario[] = [deciding, aging]
