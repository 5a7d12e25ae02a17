import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import { yamlValue } from '@gyropilot/foundation/yaml'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import { publishClusterInfo } from './cluster-info.ts'

const INFO = { server: 'https://127.0.0.1:6443', authorityPem: 'PEM' }

function world() {
  const server = new FakeServer()
  const clock = testClock()
  return {
    server,
    clock,
    publish: (info = INFO) => publishClusterInfo(server, clock, info),
    clusterInfo: () => server.resource(resources.configmaps, 'kube-public').get('cluster-info'),
  }
}

test('a kubeconfig without a user, for anybody to read', async () => {
  const { server, publish, clusterInfo } = world()
  await publish()
  assert.deepEqual(yamlValue((await clusterInfo()).data?.['kubeconfig'] ?? ''), {
    apiVersion: 'v1',
    clusters: [
      {
        cluster: { 'certificate-authority-data': 'UEVN', server: 'https://127.0.0.1:6443' },
        name: '',
      },
    ],
    contexts: null,
    'current-context': '',
    kind: 'Config',
    preferences: {},
    users: null,
  })
  const name = 'kubeadm:bootstrap-signer-clusterinfo'
  const role = await server.resource(resources.roles, 'kube-public').get(name)
  assert.deepEqual(role.rules, [
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] },
  ])
  const binding = await server.resource(resources.rolebindings, 'kube-public').get(name)
  assert.deepEqual(binding.subjects, [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:anonymous' },
  ])
})

test('what a data directory kept stays as it is, until the server is another', async () => {
  const { server, publish, clusterInfo } = world()
  await publish()
  const signed = { ...(await clusterInfo()).data, 'jws-kubeconfig-abc123': 'signature' }
  const patch = { type: 'merge', value: { data: signed } } as const
  const kept = await server
    .resource(resources.configmaps, 'kube-public')
    .patch('cluster-info', patch)
  await publish()
  assert.deepEqual(await clusterInfo(), kept)
  await publish({ ...INFO, server: 'https://127.0.0.1:7443' })
  const { data } = await clusterInfo()
  assert.match(data?.['kubeconfig'] ?? '', /server: https:\/\/127\.0\.0\.1:7443\n/)
  assert.equal(data?.['jws-kubeconfig-abc123'], 'signature')
})

test('it waits for its namespace, but not for ever', async () => {
  const { server, clock, publish, clusterInfo } = world()
  let refusals = 3
  server.onRequest = ({ verb }) => {
    if (verb === 'create' && refusals-- > 0)
      throw new StatusError({ kind: 'Status', apiVersion: 'v1', code: 404, reason: 'NotFound' })
  }
  const published = publish()
  await clock.advance(30)
  await published
  assert.ok(await clusterInfo())
  refusals = Number.POSITIVE_INFINITY
  const refused = assert.rejects(publish(), { code: 404 })
  await clock.advance(5_000)
  await refused
})
