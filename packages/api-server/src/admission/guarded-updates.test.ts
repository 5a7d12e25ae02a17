import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import { makeNamespace, PATCH, pod, startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import type { Draft } from '../registry/kind-rules.ts'

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

function signingRequest(name: string, organizations: readonly string[]): Draft {
  const request = Buffer.from(signingRequestPem({ commonName: 'jane', organizations })).toString(
    'base64',
  )
  return {
    metadata: { name },
    spec: { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
  }
}

async function allowJane({ call }: TestServer, ...rules: Draft[]): Promise<void> {
  await call('POST', `${RBAC}/clusterroles`, { metadata: { name: 'jane' }, rules })
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'jane' }
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }]
  await call('POST', `${RBAC}/clusterrolebindings`, {
    metadata: { name: 'jane' },
    roleRef,
    subjects,
  })
}

describe('certificate requests', () => {
  test('nobody gets a client certificate of system:masters', async () => {
    const { server, call } = await startServer()
    const { status, body } = await call('POST', CSRS, signingRequest('masters', ['system:masters']))
    const why =
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed'
    assert.deepEqual(
      [status, body.message],
      [403, `certificatesigningrequests.certificates.k8s.io "masters" is forbidden: ${why}`],
    )
    assert.equal((await call('POST', CSRS, signingRequest('devs', ['devs']))).status, 201)
    const unreadable = signingRequest('unreadable', [])
    unreadable['spec'].request = 'eA=='
    assert.equal((await call('POST', CSRS, unreadable)).status, 422)
    await server.stop()
  })

  test('approving needs the verb on the signer, or on all of its domain', async () => {
    const world = await startServer()
    const { server, call, as } = world
    const signers = {
      apiGroups: ['certificates.k8s.io'],
      resources: ['signers'],
      verbs: ['approve'],
    }
    const approval = {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests', 'certificatesigningrequests/approval'],
      verbs: ['get', 'update'],
    }
    await call('POST', CSRS, signingRequest('c', ['devs']))
    await allowJane(world, approval)
    const { body: current } = await as('jane', 'GET', `${CSRS}/c`)
    const approved = {
      ...current,
      status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] },
    }
    const refused = await as('jane', 'PUT', `${CSRS}/c/approval`, approved)
    const why =
      'user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"'
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, `certificatesigningrequests.certificates.k8s.io "c" is forbidden: ${why}`],
    )
    const rules = [approval, { ...signers, resourceNames: ['kubernetes.io/*'] }]
    await call('PATCH', `${RBAC}/clusterroles/jane`, { rules }, PATCH)
    assert.equal((await as('jane', 'PUT', `${CSRS}/c/approval`, approved)).status, 200)
    await server.stop()
  })
})

describe('growing claims', () => {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

  for (const [allowVolumeExpansion, expected] of [
    [true, 200],
    [false, 403],
  ] as const) {
    test(`a bound claim of a class with allowVolumeExpansion ${allowVolumeExpansion}: ${expected}`, async () => {
      const world = await startServer()
      const ns = await makeNamespace(world, 'a')
      const { server, call } = world
      await call('POST', '/apis/storage.k8s.io/v1/storageclasses', {
        metadata: { name: 'sc' },
        provisioner: 'p',
        allowVolumeExpansion,
      })
      const claim = {
        metadata: { name: 'c' },
        spec: { ...spec, storageClassName: 'sc', volumeName: 'v' },
      }
      await call('POST', `${ns}/persistentvolumeclaims`, claim)
      await call(
        'PATCH',
        `${ns}/persistentvolumeclaims/c/status`,
        { status: { phase: 'Bound' } },
        PATCH,
      )
      const grow = { spec: { resources: { requests: { storage: '2Gi' } } } }
      const { status, body } = await call('PATCH', `${ns}/persistentvolumeclaims/c`, grow, PATCH)
      assert.equal(status, expected)
      if (status === 403)
        assert.match(body.message, /only dynamically provisioned pvc can be resized/)
      await server.stop()
    })
  }
})

describe('bodies of subresources pass admission', () => {
  const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } }

  test('a bound pod learns zone and region of its node', async () => {
    const world = await startServer()
    const ns = await makeNamespace(world, 'a')
    const { server, call } = world
    const labels = {
      'topology.kubernetes.io/zone': 'z',
      'topology.kubernetes.io/region': 'r',
      other: 'o',
    }
    await call('POST', '/api/v1/nodes', { metadata: { name: 'n1', labels } })
    await call('POST', `${ns}/pods`, pod('p'))
    await call('POST', `${ns}/pods/p/binding`, binding)
    const { body } = await call('GET', `${ns}/pods/p`)
    assert.deepEqual(body.metadata.labels, {
      'topology.kubernetes.io/zone': 'z',
      'topology.kubernetes.io/region': 'r',
    })
    await server.stop()
  })

  test('a pod that is created on a node learns them, too, whatever it said itself', async () => {
    const world = await startServer()
    const ns = await makeNamespace(world, 'a')
    const { server, call } = world
    const zone = 'topology.kubernetes.io/zone'
    await call('POST', '/api/v1/nodes', { metadata: { name: 'n1', labels: { [zone]: 'z' } } })
    const labelsOf = async (name: string, nodeName?: string): Promise<unknown> => {
      const made = pod(name)
      const { body } = await call('POST', `${ns}/pods`, {
        ...made,
        metadata: { name, labels: { [zone]: 'mine', app: 'a' } },
        spec: { ...made.spec, nodeName },
      })
      return body.metadata.labels
    }
    assert.deepEqual(await labelsOf('there', 'n1'), { [zone]: 'z', app: 'a' })
    assert.deepEqual(await labelsOf('nowhere'), { [zone]: 'mine', app: 'a' })
    assert.deepEqual(await labelsOf('gone', 'n2'), { [zone]: 'mine', app: 'a' })
    await server.stop()
  })

  test('nothing is bound in a terminating namespace', async () => {
    const world = await startServer()
    const ns = await makeNamespace(world, 'a')
    const { server, call } = world
    await call('POST', `${ns}/pods`, pod('p'))
    await call('DELETE', ns)
    const { status, body } = await call('POST', `${ns}/pods/p/binding`, binding)
    assert.deepEqual([status, body.details.causes[0].reason], [403, 'NamespaceTerminating'])
    await server.stop()
  })
})
