/** What docs/behaviour/simulation/kubelet.md says of the network of simulated pods. */
import assert from 'node:assert/strict'
import type { Pod, Service } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import { SAYS, end, outcome, run, serve } from './pod-scripts.ts'

scenario(
  'a Service is reached by its short, longer and full names, and by its address',
  async (world) => {
    await serve(world, 'web')
    await world.advance(5_000)
    const service = await world.find(resources.services, 'web')
    const ip = service?.spec?.clusterIP
    for (const host of [
      'web',
      'web.default',
      'web.default.svc',
      'web.default.svc.cluster.local',
      `${ip}`,
    ]) {
      const { exitCode, said = '' } =
        (await outcome(world, `wget -qO- http://${host}/x ${SAYS}`)) ?? {}
      assert.equal(exitCode, 0, host)
      assert.match(said, /^simulated pod default\/web-\S+ on node-\d: port 8080, GET \/x\n$/, host)
    }
  },
)

scenario(
  'an init container that waits for a Service waits until there is one, as in the tutorial',
  async (world) => {
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'app', namespace: 'default' },
      spec: {
        initContainers: [
          {
            name: 'init',
            image: 'busybox:1.28',
            command: [
              'sh',
              '-c',
              'until nslookup db.$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace).svc.cluster.local; do echo waiting for db; sleep 2; done',
            ],
          },
        ],
        containers: [{ name: 'c', image: 'nginx:1' }],
      },
    })
    await world.advance(60_000)
    const phase = async () => (await world.find(resources.pods, 'app'))?.status?.phase
    assert.equal(await phase(), 'Pending')
    await serve(world, 'db')
    await world.advance(10_000)
    assert.equal(await phase(), 'Running')
  },
)

scenario('nobody ready: connections are refused until somebody is', async (world) => {
  await serve(world, 'web', { replicas: 1, annotations: { 'sim.kubelet/ready-after': '30s' } })
  await world.advance(5_000)
  assert.deepEqual(await outcome(world, `wget -qO- web 2> /dev/termination-log`), {
    exitCode: 1,
    said: `wget: can't connect to remote host (${(await world.find(resources.services, 'web'))?.spec?.clusterIP}): Connection refused\n`,
  })
  await run(world, 'patient', 'until nc -z web 80; do sleep 1; done')
  await world.advance(10_000)
  assert.equal(await end(world, 'patient'), undefined)
  await world.advance(30_000)
  assert.deepEqual(await end(world, 'patient'), { exitCode: 0, said: undefined })
})

scenario(
  'a headless Service stands for its pods, each by its own name where it has one',
  async (world) => {
    await world.of(resources.statefulsets).create({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        serviceName: 'db',
        replicas: 2,
        selector: { matchLabels: { app: 'db' } },
        template: {
          metadata: { labels: { app: 'db' } },
          spec: { containers: [{ name: 'c', image: 'postgres:17' }] },
        },
      },
    })
    await world.of(resources.services).create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'db' },
      spec: { clusterIP: 'None', selector: { app: 'db' } },
    })
    await world.advance(15_000)
    const ips = await Promise.all(
      ['db-0', 'db-1'].map(async (name) => (await world.find(resources.pods, name))?.status?.podIP),
    )
    const { said = '' } = (await outcome(world, `nslookup db ${SAYS}`)) ?? {}
    const answered = [...said.matchAll(/^Address: (\S+)$/gm)].map(([, address]) => address)
    assert.deepEqual(answered.toSorted(), ips.toSorted())
    assert.match(
      (await outcome(world, `curl -s db-1.db:5432 ${SAYS}`))?.said ?? '',
      /pod default\/db-1 /,
    )
    assert.equal((await outcome(world, 'nslookup db-7.db'))?.exitCode, 1)
    const asked = `for i in $(seq 12); do wget -qO- db:5432; done ${SAYS}`
    const answers = (await outcome(world, asked))?.said ?? ''
    assert.match(answers, /pod default\/db-0 [^]*pod default\/db-1 |db-1 [^]*db-0 /)
  },
)

scenario('names that nobody has: unknown in the cluster, a guess outside of it', async (world) => {
  assert.deepEqual(await outcome(world, 'curl -sS nosuch 2> /dev/termination-log'), {
    exitCode: 6,
    said: 'curl: (6) Could not resolve host: nosuch\n',
  })
  assert.equal((await outcome(world, 'curl -s web.default.svc'))?.exitCode, 6)
  assert.equal((await outcome(world, 'curl -s web.kube-system'))?.exitCode, 6)
  // Whatever the internet would say: what the container does is a guess, and it does not fail.
  for (const url of ['http://example.com/x.tgz', 'https://example.com', 'http://203.0.113.7/'])
    assert.equal((await outcome(world, `curl -sf ${url} -o /tmp/x || exit 9`))?.exitCode, 0, url)
})

scenario(
  'a port that no container declares is refused, one that the Service lacks is never answered',
  async (world) => {
    const name = 'web'
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', labels: { app: name } },
      spec: { containers: [{ name: 'c', image: 'nginx:1', ports: [{ containerPort: 80 }] }] },
    })
    await world.of(resources.services).create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: { app: name }, ports: [{ port: 80 }] },
    })
    await world.advance(5_000)
    const ip = (await world.find(resources.pods, name))?.status?.podIP
    assert.equal((await outcome(world, `nc -z ${ip} 80`))?.exitCode, 0)
    assert.equal((await outcome(world, `nc -z ${ip} 81`))?.exitCode, 1)
    assert.equal((await outcome(world, `curl -s ${ip}:81`))?.exitCode, 7)
    const late = `curl -sS -m 20 ${name}:81 2> /dev/termination-log`
    assert.equal(await outcome(world, late, 15_000), undefined)
    assert.deepEqual(await outcome(world, late, 30_000), {
      exitCode: 28,
      said: 'curl: (28) Connection timed out after 20000 milliseconds\n',
    })
  },
)

scenario('the page of a simulated pod is no answer for a script that reads it', async (world) => {
  await serve(world, 'search')
  await world.advance(5_000)
  const asks = 'curl -s http://search/health'
  // A real one would say green at some time: that it never does here must not hold anybody up.
  for (const script of [
    `until ${asks} | grep -q green; do sleep 1; done`,
    `test "$(${asks})" = green`,
    `state=$(${asks}); [ "$state" = green ] || exit 3`,
  ])
    assert.equal((await outcome(world, script))?.exitCode, 0, script)
  // What it does not read is as it is.
  assert.equal((await outcome(world, `${asks} > /dev/null; exit 4`))?.exitCode, 4)
  assert.equal(
    (
      await outcome(
        world,
        `test "$(curl -s -o /dev/null -w '%{http_code}' search)" = 200 || exit 5`,
      )
    )?.exitCode,
    0,
  )
})

scenario(
  'what a container asks of itself is answered by programs that are not here: a guess',
  async (world) => {
    for (const url of ['http://localhost:8080/healthz', '127.0.0.1:9', '$(hostname -i):80'])
      assert.equal((await outcome(world, `wget -q --spider ${url} || exit 7`))?.exitCode, 0, url)
  },
)

scenario('internalTrafficPolicy Local reaches pods of the same node alone', async (world) => {
  await serve(world, 'web', { replicas: 1, spec: { internalTrafficPolicy: 'Local' } })
  await world.advance(5_000)
  const [pod] = (await world.list(resources.pods)).filter(({ metadata }) =>
    metadata?.name?.startsWith('web'),
  )
  const there = pod?.spec?.nodeName
  for (const nodeName of ['node-1', 'node-2']) {
    const name = `from-${nodeName}`
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName,
        restartPolicy: 'Never',
        containers: [
          { name: 'c', image: 'busybox', command: ['nc', '-z', '-w', '3', 'web', '80'] },
        ],
      },
    })
    await world.advance(10_000)
    assert.equal((await end(world, name))?.exitCode, nodeName === there ? 0 : 1)
  }
})

scenario('a pod whose node is off is not reached', async (world) => {
  await serve(world, 'web', { replicas: 1 })
  await world.advance(5_000)
  const [pod] = (await world.list(resources.pods)).filter(({ metadata }) =>
    metadata?.name?.startsWith('web'),
  )
  const node = pod!.spec!.nodeName!
  const off = { metadata: { annotations: { 'sim.kubelet/node': '{stopped: true}' } } }
  await world.of(resources.nodes).patch(node, { type: 'merge', value: off })
  await world.advance(1_000)
  const other = node === 'node-1' ? 'node-2' : 'node-1'
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'asks', namespace: 'default' },
    spec: {
      nodeName: other,
      restartPolicy: 'Never',
      containers: [{ name: 'c', image: 'busybox', command: ['nc', '-z', '-w', '2', 'web', '80'] }],
    },
  })
  await world.advance(10_000)
  assert.equal((await end(world, 'asks'))?.exitCode, 1)
})

scenario(
  'a Service is reached at its port of any node, and others are not known',
  async (world) => {
    await serve(world, 'web', {
      spec: { type: 'NodePort', externalTrafficPolicy: 'Local' },
      replicas: 1,
    })
    await serve(world, 'wide', { spec: { type: 'NodePort' }, replicas: 1 })
    await world.advance(5_000)
    const portOf = async (name: string) =>
      (await world.find(resources.services, name))?.spec?.ports?.[0]?.nodePort
    const [near, wide] = [await portOf('web'), await portOf('wide')]
    const pods = await world.list(resources.pods)
    const own = pods.find(({ metadata }) => metadata?.labels?.['app'] === 'web')?.spec?.nodeName
    for (const { metadata, status } of await world.list(resources.nodes)) {
      const ip = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
      const codes = await outcome(
        world,
        `curl -s -o /dev/null -m 2 ${ip}:${near}; a=$?; curl -s -o /dev/null -m 2 ${ip}:${wide}; echo $a $? ${SAYS}`,
        10_000,
      )
      assert.equal(codes?.said, `${metadata?.name === own ? 0 : 28} 0\n`)
    }
  },
)

scenario(
  'a Service that kube-proxy leaves alone is not reached, one with affinity always at the same pod',
  async (world) => {
    await serve(world, 'left', {})
    await serve(world, 'sticky', { spec: { sessionAffinity: 'ClientIP' }, replicas: 5 })
    const labels = { 'service.kubernetes.io/headless': '' }
    await world.advance(5_000)
    const left = await world.find(resources.services, 'left')
    await world
      .of(resources.services)
      .update({ ...left!, metadata: { ...left!.metadata, labels } } as Service)
    await world.advance(1_000)
    assert.equal((await outcome(world, 'curl -s -m 2 left; exit $?'))?.exitCode, 28)
    const asks = Array.from({ length: 8 }, (_, at) => `wget -qO /tmp/${at} sticky`).join('; ')
    const script = `${asks}; cat /tmp/? ${SAYS}`
    const { said = '' } = (await outcome(world, script)) ?? {}
    const lines = said.split('\n').filter((line) => line !== '')
    assert.deepEqual([lines.length, new Set(lines).size], [8, 1])
  },
)

scenario('a Service is reached at its external addresses, and nobody at others', async (world) => {
  await serve(world, 'web', {
    spec: { externalIPs: ['203.0.113.7'], externalTrafficPolicy: 'Local', type: 'NodePort' },
  })
  await world.advance(5_000)
  for (const [port, expected] of [
    [80, 0],
    [81, 1],
  ] as const)
    assert.equal((await outcome(world, `nc -z -w 2 203.0.113.7 ${port}`))?.exitCode, expected)
})

for (const [sent, exitCode, log, answered] of [
  ['abc', 0, undefined, 'xxxxxx'],
  ['', 2, /^Accepted client connection\nExpected to read 3 bytes from client, but got 0 inst/, ''],
  ['abd', 3, /Expected "abc" from client, but got "abd"/, ''],
] as const)
  scenario(
    `agnhost port-forward-tester serves one connection and ends by how it went: ${sent || 'nothing'} sent`,
    async (world) => {
      const env = Object.entries({
        BIND_PORT: '80',
        EXPECTED_CLIENT_DATA: 'abc',
        CHUNKS: '3',
        CHUNK_SIZE: '2',
        CHUNK_INTERVAL: '100',
      }).map(([name, value]) => ({ name, value }))
      const container = {
        name: 'c',
        image: 'agnhost:2',
        args: ['port-forward-tester'],
        env,
        terminationMessagePolicy: 'FallbackToLogsOnError',
      } as const
      await world.of(resources.pods).create({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'tester', namespace: 'default' },
        spec: { restartPolicy: 'Never', containers: [container] },
      })
      await world.advance(5_000)
      const ip = (await world.find(resources.pods, 'tester'))?.status?.podIP
      assert.equal(await end(world, 'tester'), undefined)
      const asked = await outcome(world, `echo -n ${sent} | nc ${ip} 80 ${SAYS}`)
      assert.equal(asked?.said ?? '', answered)
      const ended = await end(world, 'tester')
      assert.equal(ended?.exitCode, exitCode)
      if (log !== undefined) assert.match(ended?.said ?? '', log)
    },
  )

scenario('a session ends when nobody asked for its time', async (world) => {
  await serve(world, 'sticky', {
    spec: {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
    },
    replicas: 9,
  })
  await world.advance(5_000)
  const asks = (pause: number): string =>
    `for i in 0 1 2 3 4 5 6 7 8 9; do wget -qO /tmp/$i sticky; sleep ${pause}; done; cat /tmp/? ${SAYS}`
  const seen = async (pause: number): Promise<number> => {
    const { said = '' } = (await outcome(world, asks(pause), 200_000)) ?? {}
    return new Set(said.split('\n').filter((line) => line !== '')).size
  }
  assert.equal(await seen(8), 1)
  assert.ok((await seen(12)) > 1)
})

scenario(
  'a load balancer is told by the health check port which nodes have an endpoint',
  async (world) => {
    await serve(world, 'web', {
      spec: { type: 'LoadBalancer', externalTrafficPolicy: 'Local' },
      replicas: 1,
    })
    await world.advance(5_000)
    const port = (await world.find(resources.services, 'web'))?.spec?.healthCheckNodePort
    const pods = await world.list(resources.pods)
    const own = pods.find(({ metadata }) => metadata?.labels?.['app'] === 'web')?.spec?.nodeName
    for (const { metadata, status } of await world.list(resources.nodes)) {
      const ip = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
      const { said } =
        (await outcome(
          world,
          `curl -s -o /dev/null -w '%{http_code}' http://${ip}:${port}/healthz ${SAYS}`,
        )) ?? {}
      assert.equal(said, metadata?.name === own ? '200' : '503')
    }
  },
)

scenario('what a preStop hook writes to another pod is counted there', async (world) => {
  const target: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'target' },
    spec: { containers: [{ name: 'c', image: 'agnhost:2', args: ['nettest'] }] },
  }
  await world.of(resources.pods).create(target)
  await world.advance(5_000)
  const ip = (await world.find(resources.pods, 'target'))?.status?.podIP
  const write = `wget -O- '--post-data={"Source": "prestop"}' http://${ip}:8080/write`
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'leaving' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'busybox:1',
          command: ['sleep', '600'],
          lifecycle: { preStop: { exec: { command: ['sh', '-c', write] } } },
        },
      ],
    },
  })
  await world.advance(5_000)
  await world.of(resources.pods).delete('leaving')
  await world.advance(5_000)
  const asks = `wget -qO /tmp/x ${ip}:8080/read; grep prestop /tmp/x ${SAYS}`
  assert.equal((await outcome(world, asks))?.said?.trim(), '"prestop": 1')
})
