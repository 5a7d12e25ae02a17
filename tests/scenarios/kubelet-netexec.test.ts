/** What docs/behaviour/simulation/kubelet.md says of `agnhost netexec` in simulated pods. */
import assert from 'node:assert/strict'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import { SAYS, end, outcome, serve } from './pod-scripts.ts'

scenario(
  'a hook that asks another pod reaches it, and agnhost netexec says in its log what it was asked',
  async (world) => {
    const meta = (name: string) => ({ name, namespace: 'default', finalizers: ['x.example/y'] })
    const target: Pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: meta('target'),
      spec: {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'c',
            image: 'agnhost:2',
            args: ['netexec'],
            ports: [{ containerPort: 8080 }],
            terminationMessagePolicy: 'FallbackToLogsOnError',
          },
        ],
      },
    }
    await world.of(resources.pods).create(target)
    await world.advance(5_000)
    const host = (await world.find(resources.pods, 'target'))?.status?.podIP ?? ''
    const asking = (name: string, port: number, scheme: 'HTTP' | 'HTTPS' = 'HTTP'): Pod => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: meta(name),
      spec: {
        containers: [
          {
            name: 'c',
            image: 'app:1',
            lifecycle: {
              postStart: { httpGet: { scheme, host, port, path: `/echo?msg=${scheme}` } },
              preStop: { exec: { command: ['curl', `http://${host}:8080/echo?msg=stops`] } },
            },
          },
        ],
      },
    })
    await world.of(resources.pods).create(asking('p', 8080))
    await world.of(resources.pods).create(asking('refused', 9))
    await world.advance(5_000)
    await world.of(resources.pods).create(asking('secret', 8080, 'HTTPS'))
    await world.of(resources.pods).create(asking('refused-too', 9, 'HTTPS'))
    await world.advance(5_000)
    await world.of(resources.pods).delete('p')
    await world.advance(5_000)
    await world.of(resources.pods).delete('target')
    await world.advance(5_000)
    const { said = '' } = (await end(world, 'target')) ?? {}
    const asked = said.split('\n').map((line) => line.split(' ').slice(2).join(' '))
    const expected = ['GET /echo?msg=HTTP', 'GET /echo?msg=HTTPS', 'GET /echo?msg=stops']
    assert.deepEqual(asked.slice(0, 3), expected)
    const events = await world.list(resources.events)
    const failed = events.filter(({ reason }) => reason === 'FailedPostStartHook')
    assert.deepEqual(
      [...new Set(failed.map(({ involvedObject }) => involvedObject.name))].toSorted(),
      ['refused', 'refused-too'],
    )
  },
)

/** Runs `agnhost netexec`, at port 8080. */
const netexec = (name: string, flags: readonly string[] = []): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 60,
    containers: [
      {
        name: 'c',
        image: 'agnhost:2',
        args: ['netexec', ...flags],
        ports: [{ containerPort: 8080 }],
      },
    ],
  },
})

scenario('agnhost netexec knows who asks, and asks others when it is told to', async (world) => {
  await world.of(resources.pods).create(netexec('one'))
  await world.of(resources.pods).create(netexec('two'))
  await world.of(resources.services).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'two' },
    spec: {
      selector: { app: 'two' },
      ports: [
        { name: 'tcp', port: 80, targetPort: 8080 },
        { name: 'udp', port: 80, targetPort: 8081, protocol: 'UDP' },
      ],
    },
  })
  await world.advance(5_000)
  const one = (await world.find(resources.pods, 'one'))?.status?.podIP
  const asked = async (path: string): Promise<string | undefined> => {
    const said = 'curl -s -g -o /dev/termination-log'
    return (await outcome(world, `${said} '${one}:8080/${path}'`))?.said
  }
  assert.match((await asked('clientip')) ?? '', /^10\.\d+\.\d+\.\d+:\d+$/)
  assert.notEqual((await asked('clientip'))?.split(':')[0], one)
  const dial = 'dial?request=hostname&protocol=http&tries=2'
  assert.equal(await asked(`${dial}&host=two&port=80`), '{"responses":["two","two"]}')
  assert.match(
    (await asked(`${dial}&host=${one}&port=9`)) ?? '',
    /^\{"errors":\["dial tcp [\d.]+:9: connect: connection refused",/,
  )
  assert.match((await asked(`${dial}&host=nosuch&port=9`)) ?? '', /no such host/)
  const byUdp = 'dial?protocol=udp&host=two&port=80'
  assert.equal(await asked(`${byUdp}&request=hostname`), '{"responses":["two"]}')
  assert.equal(await asked(`${byUdp}&request=echo%20a%20b`), '{"responses":["a b"]}')
  assert.match((await asked(`${byUdp}&request=clientip`)) ?? '', new RegExp(`"${one}:\\d+"`))
})

scenario('nc asks agnhost netexec by UDP; nobody else answers that', async (world) => {
  await world.of(resources.pods).create(netexec('one'))
  await world.advance(5_000)
  const ip = (await world.find(resources.pods, 'one'))?.status?.podIP
  const said = async (target: string) =>
    (await outcome(world, `echo hostName | nc -u -w 1 ${target} ${SAYS}`)) ?? {}
  assert.deepEqual(await said(`${ip} 8081`), { exitCode: 0, said: 'one' })
  assert.deepEqual(await said(`${ip} 8080`), { exitCode: 1, said: undefined })
})

scenario(
  'agnhost netexec serves on, unready, as long as its shutdown is delayed',
  async (world) => {
    const pod = netexec('slow', ['--delay-shutdown=20'])
    const readinessProbe = { httpGet: { path: '/readyz', port: 8080 }, periodSeconds: 1 }
    const containers = pod.spec!.containers.map((each) => ({ ...each, readinessProbe }))
    await world.of(resources.pods).create({ ...pod, spec: { ...pod.spec, containers } })
    await world.advance(5_000)
    const isReady = async (): Promise<boolean | undefined> =>
      (await world.find(resources.pods, 'slow'))?.status?.containerStatuses?.[0]?.ready
    const ip = (await world.find(resources.pods, 'slow'))?.status?.podIP
    assert.equal(await isReady(), true)
    await world.of(resources.pods).delete('slow')
    await world.advance(5_000)
    assert.equal(await isReady(), false)
    assert.equal((await outcome(world, `curl -s -o /dev/null ${ip}:8080/hostname`))?.exitCode, 0)
    await world.advance(20_000)
    assert.equal(await world.find(resources.pods, 'slow'), undefined)
  },
)

scenario(
  'a hook that asks agnhost netexec in its own pod is answered, and may have it ask others',
  async (world) => {
    const handler = netexec('handler')
    const containers = handler.spec!.containers.map(
      (each) => ({ ...each, terminationMessagePolicy: 'FallbackToLogsOnError' }) as const,
    )
    const spec = { ...handler.spec, containers, restartPolicy: 'Never' } as const
    const metadata = { ...handler.metadata, finalizers: ['x.example/y'] }
    await world.of(resources.pods).create({ ...handler, metadata, spec })
    await world.advance(5_000)
    const ip = (await world.find(resources.pods, 'handler'))?.status?.podIP
    const path = `/dial?host=${ip}&port=8080&request=echo%3Fmsg%3Dhooked`
    const own = { name: 'own', image: 'agnhost:2', args: ['netexec'] }
    const hooked = {
      name: 'c',
      image: 'app:1',
      lifecycle: { postStart: { httpGet: { path, port: 8080 } } },
    }
    await world.of(resources.pods).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'hooked', namespace: 'default' },
      spec: {
        initContainers: [{ ...own, restartPolicy: 'Always' }],
        containers: [hooked],
      },
    })
    await world.advance(5_000)
    await world.of(resources.pods).delete('handler')
    await world.advance(5_000)
    assert.match((await end(world, 'handler'))?.said ?? '', /GET \/echo\?msg=hooked\n$/)
  },
)

scenario('agnhost netexec on its node’s network reaches node ports there', async (world) => {
  await serve(world, 'web', { spec: { type: 'NodePort' } })
  const pod = netexec('onnode')
  await world.of(resources.pods).create({ ...pod, spec: { ...pod.spec!, hostNetwork: true } })
  await world.advance(5_000)
  const ip = (await world.find(resources.pods, 'onnode'))?.status?.podIP
  const port = (await world.find(resources.services, 'web'))?.spec?.ports?.[0]?.nodePort
  const dial = `dial?protocol=http&host=${ip}&port=${port}&request=x`
  await world.of(resources.services).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'onnode' },
    spec: { selector: { app: 'onnode' }, ports: [{ port: 80, targetPort: 8080 }] },
  })
  await world.advance(5_000)
  const script = `curl -s -g -o /dev/termination-log 'http://onnode/${dial}'`
  assert.match((await outcome(world, script))?.said ?? '', /simulated pod default\/web-/)
})

scenario('a port of a node leads to the pod that has it there at this address', async (world) => {
  const onNode = (name: string, spec: Partial<NonNullable<Pod['spec']>>): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { nodeName: 'node-1', containers: [], ...spec },
  })
  const host = (await world.find(resources.nodes, 'node-1'))?.status?.addresses?.find(
    ({ type }) => type === 'InternalIP',
  )?.address
  for (const [name, hostIP] of [
    ['local', '127.0.0.1'],
    ['outer', host],
  ] as const) {
    const ports = [{ hostPort: 5000, containerPort: 8080, ...(hostIP && { hostIP }) }]
    const container = { name: 'c', image: 'agnhost:2', args: ['netexec'], ports }
    await world.of(resources.pods).create(onNode(name, { containers: [container] }))
  }
  await world.advance(5_000)
  const { said } = (await outcome(world, `curl -s http://${host}:5000/hostname ${SAYS}`)) ?? {}
  assert.equal(said, 'outer')
})
