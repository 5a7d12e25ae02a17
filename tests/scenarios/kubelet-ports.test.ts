/** What docs/behaviour/simulation/kubelet.md says of programs at the ports of nodes and pods that other pods ask. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { SAYS, end, outcome } from './pod-scripts.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

scenario(
  'the port of a kubelet is for those who say who they are, and who may ask for that part of a node',
  async (world) => {
    const role = async (name: string, resource: string): Promise<void> => {
      await world.of(resources.clusterroles).create({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name },
        rules: [{ apiGroups: [''], resources: [resource], verbs: ['get'] }],
      })
    }
    await role('health', 'nodes/healthz')
    await world.of(resources.clusterrolebindings).create({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'health' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'health' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
    })
    await world.advance(2_000)
    const { items } = await world.client.resource(resources.nodes).list()
    const node = items[1]!
    const ip = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const token = '$(cat /var/run/secrets/kubernetes.io/serviceaccount/token)'
    const ask = async (path: string, header = `-H "Authorization: Bearer ${token}"`) =>
      (await outcome(world, `curl -sk ${header} https://${ip}:10250${path} ${SAYS}`))?.said
    assert.equal(await ask('/healthz', ''), 'Unauthorized')
    assert.equal(await ask('/healthz', '-H "Authorization: Bearer nobody"'), 'Unauthorized')
    assert.equal(await ask('/healthz'), 'ok')
    const user = 'user=system:serviceaccount:default:default'
    const refusal = `${user}, verb=get, resource=nodes, subresource(s)=[pods proxy]`
    assert.equal(await ask('/pods'), `Forbidden (${refusal})`)
    const plain = await outcome(world, `curl -s http://${ip}:10250/healthz ${SAYS}`)
    assert.equal(plain?.said, 'Client sent an HTTP request to an HTTPS server.\n')
  },
)

/** A pod of agnhost guestbook, and the Service of its name. */
async function guestbook(world: World, name: string, args: readonly string[]): Promise<void> {
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: { containers: [{ name: 'c', image: 'agnhost:2', args: ['guestbook', ...args] }] },
  })
  await world.of(resources.services).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: name === 'frontend' ? 80 : 6379 }] },
  })
}

scenario(
  'a guestbook: what is set at its primary is read at its replica, also by one that came later',
  async (world) => {
    await guestbook(world, 'frontend', ['--backend-port', '6379'])
    const replica = ['--replicaof', 'agnhost-primary', '--http-port', '6379']
    await guestbook(world, 'agnhost-replica', replica)
    // It tries again until there is a primary.
    await world.advance(3_000)
    await guestbook(world, 'agnhost-primary', ['--http-port', '6379'])
    await world.advance(10_000)
    const ask = async (host: string, query: string) =>
      (await outcome(world, `curl -s "http://${host}/${query}" ${SAYS}`))?.said
    const front = (query: string) => ask('frontend', `guestbook?${query}`)
    assert.equal(await front('cmd=get&key=messages'), '{"data":""}')
    assert.equal(await front('cmd=set&key=messages&value=a%20b'), '{"message":"Updated"}')
    assert.equal(await front('cmd=get&key=messages'), '{"data":"a b"}')
    assert.equal(await front('cmd=drop'), "unsupported cmd: 'drop'\n")
    assert.equal(await front('cmd=set'), 'cannot set with empty key.\n')

    await guestbook(world, 'late', replica)
    await world.advance(5_000)
    assert.equal(await ask('late:6379', 'get'), '{"data":{"messages":"a b"}}')
    const alone = ['--replicaof', 'nosuch', '--http-port', '6379']
    await guestbook(world, 'alone', alone)
    await world.advance(18_000)
    const state = (await world.find(resources.pods, 'alone'))?.status?.containerStatuses?.[0]
    assert.equal((state?.state?.terminated ?? state?.lastState?.terminated)?.exitCode, 1)
  },
)

scenario('kube-proxy tells at every node that it is well', async (world) => {
  const { items } = await world.client.resource(resources.nodes).list()
  const address = items[0]!.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
  const health = await outcome(world, `curl -sf http://${address}:10256/healthz ${SAYS}`)
  assert.match(health?.said ?? '', /"nodeEligible": true/)
})

scenario('a pod with a name server of its own asks that one, and nobody else', async (world) => {
  await world.of(resources.configmaps).create({
    metadata: { name: 'dns' },
    data: { Corefile: '. {\n  hosts {\n    1.1.1.1 web.own.example\n  }\n}\n' },
  })
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'dns', namespace: 'default' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'agnhost:2',
          command: ['/coredns'],
          args: ['-conf', '/etc/coredns/Corefile'],
          volumeMounts: [{ name: 'v', mountPath: '/etc/coredns' }],
        },
      ],
      volumes: [{ name: 'v', configMap: { name: 'dns' } }],
    },
  })
  await world.advance(5_000)
  const server = (await world.find(resources.pods, 'dns'))?.status?.podIP ?? ''
  const ask = async (name: string, script: string) => {
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: {
        dnsPolicy: 'None',
        dnsConfig: { nameservers: [server], searches: ['own.example'] },
        restartPolicy: 'Never',
        containers: [{ name: 'c', image: 'busybox:1', command: ['sh', '-c', script] }],
      },
    })
    await world.advance(5_000)
    return end(world, name)
  }
  assert.deepEqual(await ask('short', `dig +short +search web ${SAYS}`), {
    exitCode: 0,
    said: '1.1.1.1\n',
  })
  assert.deepEqual(await ask('host', `getent hosts web | grep -q ^1.1.1.1`), {
    exitCode: 0,
    said: undefined,
  })
  const cluster = 'getent hosts kubernetes.default.svc.cluster.local'
  assert.deepEqual(await ask('cluster', cluster), { exitCode: 2, said: undefined })
})

scenario(
  'a port of a container that has crashed refuses, though the pod goes on',
  async (world) => {
    const ports = [{ containerPort: 80 }]
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: {
        containers: [
          { name: 'c', image: 'app:1', ports, command: ['sh', '-c', 'sleep 10; exit 1'] },
          { name: 'beside', image: 'log:1' },
        ],
      },
    })
    await world.advance(5_000)
    const ip = (await world.find(resources.pods, 'p'))?.status?.podIP
    const ask = async () => (await outcome(world, `wget -T 1 -qO- http://${ip}/`))?.exitCode
    assert.equal(await ask(), 0)
    await world.advance(35_000)
    assert.equal(await ask(), 1)
  },
  { nodes: 1 },
)
