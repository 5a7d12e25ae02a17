import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import { ApiError } from '../contracts.ts'
import type { AdmissionRequest, ResourceInfo } from '../contracts.ts'
import type { Draft } from '../registry/kind-rules.ts'
import { nodeRestriction } from './node-restriction.ts'
import type { AdmissionWorld } from './world.ts'

const USER = { name: 'system:node:a', groups: ['system:nodes'], extra: {} }
const pods: Record<string, Draft> = {
  'x/other': { metadata: { uid: 'other' }, spec: { nodeName: 'b' } },
  'x/own': {
    metadata: { name: 'own', namespace: 'x', uid: 'own' },
    spec: {
      nodeName: 'a',
      volumes: [
        { name: 'v', projected: { sources: [{ serviceAccountToken: { audience: 'vault' } }] } },
        { name: 'd', csi: { driver: 'd.example.com' } },
      ],
    },
  },
  'd.example.com': { spec: { tokenRequests: [{ audience: 'driver' }] } },
  // The node, by its key.
  a: { metadata: { uid: 'u' } },
}
const OWNER = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u', controller: true }
const store = {
  get: ({ key }: { key: string }) => (pods[key] === undefined ? undefined : { object: pods[key] }),
}
const authorizer = {
  authorize: ({ resource }: { resource: string }) => ({ allowed: resource === 'granted' }),
}
const plugin = nodeRestriction({ store, authorizer } as unknown as AdmissionWorld)

const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'

function certificate(signerName: string, commonName: string): Parameters<typeof verdict>[0] {
  const request = Buffer.from(signingRequestPem({ commonName })).toString('base64')
  return {
    plural: 'certificatesigningrequests',
    group: 'certificates.k8s.io',
    operation: 'CREATE',
    object: { spec: { signerName, request } },
  }
}

function verdict(
  change: Partial<AdmissionRequest> & { group?: string; plural: string },
): string | undefined {
  const { group = '', plural, ...rest } = change
  const request: AdmissionRequest = {
    operation: 'UPDATE',
    resource: { group, resource: plural } as ResourceInfo,
    subresource: '',
    namespace: 'x',
    name: '',
    user: USER,
    dryRun: false,
    options: {},
    warn() {},
    ...rest,
  }
  if (!plugin.handles(request)) return undefined
  try {
    void plugin.mutate!(request)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ApiError && error.code === 403)
    return error.message.slice(error.message.indexOf('is forbidden: ') + 'is forbidden: '.length)
  }
}

const node = (labels: Draft, taints: Draft[] = []): Draft => ({
  metadata: { name: 'a', labels },
  spec: { taints },
})
const pod = (nodeName: string, metadata: Draft = {}): Draft => ({
  metadata: { name: 'p', ...metadata },
  spec: { nodeName },
})
const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } }

describe('NodeRestriction', () => {
  for (const [title, change, why] of [
    [
      'another node',
      { plural: 'nodes', name: 'b', object: node({}), oldObject: node({}) },
      'node "a" is not allowed to modify node "b"',
    ],
    [
      'its own node',
      {
        plural: 'nodes',
        name: 'a',
        object: node({ 'kubernetes.io/os': 'linux', 'example.com/x': '1' }),
        oldObject: node({}),
      },
      undefined,
    ],
    [
      'labels that say what may run there',
      {
        plural: 'nodes',
        name: 'a',
        object: node({ 'node-restriction.kubernetes.io/pci': '1', 'kubernetes.io/role': 'm' }),
        oldObject: node({}),
      },
      'is not allowed to modify labels: kubernetes.io/role, node-restriction.kubernetes.io/pci',
    ],
    [
      'taints',
      { plural: 'nodes', name: 'a', object: node({}), oldObject: node({}, [{ key: 'k' }]) },
      'node "a" is not allowed to modify taints',
    ],
    [
      'an ordinary pod',
      { plural: 'pods', operation: 'CREATE', object: pod('a') },
      'pod does not have "kubernetes.io/config.mirror" annotation, node "a" can only create mirror pods',
    ],
    [
      'a mirror pod of its own',
      {
        plural: 'pods',
        operation: 'CREATE',
        object: pod('a', { ...mirror, ownerReferences: [OWNER] }),
      },
      undefined,
    ],
    [
      'a mirror pod with two owners',
      {
        plural: 'pods',
        operation: 'CREATE',
        object: pod('a', { ...mirror, ownerReferences: [OWNER, OWNER] }),
      },
      'node "a" can only create pods with a single owner reference set to itself',
    ],
    [
      'a mirror pod that keeps its node',
      {
        plural: 'pods',
        operation: 'CREATE',
        object: pod('a', { ...mirror, ownerReferences: [{ ...OWNER, blockOwnerDeletion: true }] }),
      },
      'node "a" must not set blockOwnerDeletion on an owner reference',
    ],
    [
      'a token for whom the server takes it to be',
      {
        plural: 'serviceaccounts',
        subresource: 'token',
        operation: 'CREATE',
        object: {
          spec: {
            audiences: null,
            boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'own', uid: 'own' },
          },
        },
      },
      undefined,
    ],
    [
      'a mirror pod without an owner',
      { plural: 'pods', operation: 'CREATE', object: pod('a', mirror) },
      'node "a" can only create pods with an owner reference set to itself',
    ],
    [
      'a mirror pod of a node that only owns it',
      {
        plural: 'pods',
        operation: 'CREATE',
        object: pod('a', { ...mirror, ownerReferences: [{ ...OWNER, controller: false }] }),
      },
      'node "a" can only create pods with a controller owner reference set to itself',
    ],
    [
      'a mirror pod of a namesake',
      {
        plural: 'pods',
        operation: 'CREATE',
        object: pod('a', { ...mirror, ownerReferences: [{ ...OWNER, uid: 'v' }] }),
      },
      'node a UID mismatch: expected v got u',
    ],
    [
      'a mirror pod with a claim for devices',
      {
        plural: 'pods',
        operation: 'CREATE',
        object: {
          ...pod('a', { ...mirror, ownerReferences: [OWNER] }),
          spec: { nodeName: 'a', resourceClaims: [{ name: 'c', resourceClaimName: 'd' }] },
        },
      },
      'node "a" can not create pods that reference resourceclaims',
    ],
    [
      'claims in the status of its pod',
      {
        plural: 'pods',
        subresource: 'status',
        object: { ...pod('a'), status: { resourceClaimStatuses: [{ name: 'c' }] } },
        oldObject: pod('a'),
      },
      'node "a" cannot update resource claim statues',
    ],
    [
      'a token for no pod',
      {
        plural: 'serviceaccounts',
        operation: 'CREATE',
        subresource: 'token',
        object: { spec: {} },
      },
      'node requested token not bound to a pod',
    ],
    ...(
      [
        [
          'without a uid',
          { name: 'own' },
          [],
          'node requested token with a pod binding without a uid',
        ],
        [
          'for a namesake',
          { name: 'own', uid: 'x' },
          [],
          'the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
        ],
        [
          'for a pod elsewhere',
          { name: 'other', uid: 'other' },
          [],
          'node requested token bound to a pod scheduled on a different node',
        ],
        ['for its pod', { name: 'own', uid: 'own' }, [], undefined],
        ['for whom the pod says', { name: 'own', uid: 'own' }, ['vault'], undefined],
        ['for whom a driver wants it', { name: 'own', uid: 'own' }, ['driver'], undefined],
        ['for whom somebody allowed it', { name: 'own', uid: 'own' }, ['granted'], undefined],
        [
          'for anybody else',
          { name: 'own', uid: 'own' },
          ['bank'],
          'audience "bank" not found in pod spec volume, system:node:a is not authorized to request tokens for this audience',
        ],
        [
          'for two',
          { name: 'own', uid: 'own' },
          ['vault', 'driver'],
          'node may only request 0 or 1 audiences',
        ],
      ] as const
    ).map(
      ([title, reference, audiences, why]) =>
        [
          `a token ${title}`,
          {
            plural: 'serviceaccounts',
            operation: 'CREATE',
            subresource: 'token',
            object: {
              spec: { audiences, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', ...reference } },
            },
          },
          why,
        ] as const,
    ),
    [
      'a source of configuration',
      {
        plural: 'nodes',
        name: 'a',
        object: { ...node({}), spec: { configSource: { configMap: { name: 'x' } } } },
        oldObject: node({}),
      },
      'node "a" is not allowed to update configSource to a new non-nil configSource',
    ],
    [
      'a user who is no node',
      { plural: 'nodes', name: 'a', user: { ...USER, name: 'system:node:' } },
      'could not determine node from user "system:node:"',
    ],
    [
      'devices of another node',
      {
        plural: 'resourceslices',
        group: 'resource.k8s.io',
        operation: 'CREATE',
        object: { spec: { nodeName: 'b' } },
      },
      'can only create ResourceSlice with the same NodeName as the requesting node',
    ],
    [
      'a mirror pod elsewhere',
      { plural: 'pods', operation: 'CREATE', object: pod('b', mirror) },
      'node "a" can only create pods with spec.nodeName set to itself',
    ],
    [
      'status of its pod',
      { plural: 'pods', subresource: 'status', object: pod('a'), oldObject: pod('a') },
      undefined,
    ],
    [
      'labels through status',
      {
        plural: 'pods',
        subresource: 'status',
        object: pod('a', { labels: { x: 'y' } }),
        oldObject: pod('a'),
      },
      'node "a" cannot update labels through pod status',
    ],
    [
      'eviction of a pod elsewhere',
      { plural: 'pods', operation: 'CREATE', subresource: 'eviction', name: 'other', object: {} },
      'node a can only evict pods with spec.nodeName set to itself',
    ],
    [
      'eviction of its pod',
      { plural: 'pods', operation: 'CREATE', subresource: 'eviction', name: 'own', object: {} },
      undefined,
    ],
    [
      'the lease of another node',
      {
        plural: 'leases',
        group: 'coordination.k8s.io',
        namespace: 'kube-node-lease',
        name: 'b',
        object: {},
      },
      'can only access node lease with the same name as the requesting node',
    ],
    ...[KUBELET_CLIENT, 'kubernetes.io/kubelet-serving'].flatMap(
      (signerName) =>
        [
          [
            `its own certificate of ${signerName}`,
            certificate(signerName, 'system:node:a'),
            undefined,
          ],
          [
            `a certificate of another node of ${signerName}`,
            certificate(signerName, 'system:node:b'),
            'can only create a node CSR with CN=system:node:a',
          ],
        ] as const,
    ),
    [
      'what is no request for a certificate',
      { ...certificate(KUBELET_CLIENT, ''), object: { spec: { signerName: KUBELET_CLIENT } } },
      'unable to parse csr: PEM block type must be CERTIFICATE REQUEST',
    ],
    [
      'a certificate of another signer',
      certificate('kubernetes.io/kube-apiserver-client', 'jane'),
      undefined,
    ],
    [
      'an update of a request for a certificate',
      { ...certificate(KUBELET_CLIENT, 'system:node:b'), operation: 'UPDATE' },
      undefined,
    ],
    [
      'anybody else',
      {
        plural: 'nodes',
        name: 'b',
        object: node({}),
        user: { name: 'jane', groups: [], extra: {} },
      },
      undefined,
    ],
  ] as const satisfies readonly (readonly [
    string,
    Parameters<typeof verdict>[0],
    string | undefined,
  ])[]) {
    test(`${title}: ${why === undefined ? 'allowed' : 'refused'}`, () =>
      assert.equal(verdict(change), why))
  }
})
