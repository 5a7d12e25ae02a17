/** What docs/behaviour/simulation/kubelet.md says of probes. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { create, found, messages, one, podOf, seen, shell } from './kubelet-pods.ts'
import { scenario } from './scenario.ts'

const exec = (command: readonly string[], more: object = {}) => ({
  exec: { command: [...command] },
  periodSeconds: 5,
  ...more,
})

scenario(
  'liveness by a command that fails: three failures, Killing, restarted',
  async (world) => {
    await create(world, podOf({ livenessProbe: exec(['cat', '/tmp/healthy']) }))
    await world.advance(9_000)
    assert.equal((await seen(world)).restarts, 0)
    await world.advance(6_000)
    assert.equal((await seen(world)).restarts, 1)
    assert.deepEqual(await messages(world, 'Unhealthy'), [
      "Liveness probe failed: cat: can't open '/tmp/healthy': No such file or directory",
    ])
    assert.deepEqual(await messages(world, 'Killing'), [
      'Container c failed liveness probe, will be restarted',
    ])
  },
  one,
)

scenario(
  'liveness sees the files of the program: the example of the Kubernetes documentation',
  async (world) => {
    const args = ['/bin/sh', '-c', 'touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600']
    const livenessProbe = exec(['cat', '/tmp/healthy'], { initialDelaySeconds: 5 })
    await create(world, podOf({ image: 'busybox', args, livenessProbe }))
    await world.advance(35_000)
    assert.equal((await seen(world)).restarts, 0)
    await world.advance(15_000)
    assert.equal((await seen(world)).restarts, 1)
  },
  one,
)

scenario(
  'liveness by HTTP or TCP at a port that the container does not have restarts it, at one that it has not',
  async (world) => {
    const ports = [{ name: 'web', containerPort: 80 }]
    const pods = world.of(resources.pods)
    const given: readonly [string, object, number][] = [
      ['http', { httpGet: { path: '/live', port: 8080 } }, 1],
      ['tcp', { tcpSocket: { port: 81 } }, 1],
      ['named', { httpGet: { port: 'web' } }, 0],
      ['number', { tcpSocket: { port: 80 } }, 0],
    ]
    for (const [name, probe] of given) {
      const pod = podOf({ ports, livenessProbe: { ...probe, periodSeconds: 5 } })
      await pods.create({ ...pod, metadata: { ...pod.metadata, name } })
    }
    await world.advance(20_000)
    for (const [name, , restarts] of given) {
      const pod = await world.find(resources.pods, name)
      assert.equal(pod?.status?.containerStatuses?.[0]?.restartCount, restarts, name)
    }
    const said = await messages(world, 'Unhealthy')
    assert.ok(
      said.some((text) =>
        /^Liveness probe failed: Get "http:\/\/[\d.]+:8080\/live": dial tcp [\d.]+:8080: connect: connection refused$/.test(
          text,
        ),
      ),
      said.join('\n'),
    )
  },
  one,
)

scenario(
  'a probe whose program only the real image has is taken to be well; one that takes too long fails',
  async (world) => {
    const livenessProbe = exec(['pg_isready'])
    const readinessProbe = exec(['sleep', '3'], { timeoutSeconds: 2 })
    await create(world, podOf({ livenessProbe, readinessProbe }))
    await world.advance(60_000)
    const { restarts, ready } = await seen(world)
    assert.deepEqual([restarts, ready], [0, false])
    assert.deepEqual(await messages(world, 'Unhealthy'), [
      'Readiness probe failed: command timed out: "sleep 3" timed out after 2s',
    ])
  },
  one,
)

scenario(
  'a web server whose index was taken away fails the probe that asks for it, until it is back',
  async (world) => {
    const folder = '/usr/share/nginx/html'
    const away = exec(['sh', '-c', `mv ${folder}/index.html /tmp/`])
    const back = ['sh', '-c', `mv /tmp/index.html ${folder}/ || true`]
    const readinessProbe = { httpGet: { port: 80 }, periodSeconds: 5, failureThreshold: 1 }
    const spec = { image: 'nginx', readinessProbe }
    const livenessProbe = exec(back, { initialDelaySeconds: 30 })
    await create(world, podOf({ ...spec, livenessProbe, lifecycle: { postStart: away } }))
    await world.advance(20_000)
    const early = await seen(world)
    assert.deepEqual([early.started, early.ready], [true, false])
    assert.deepEqual(await messages(world, 'Unhealthy'), [
      'Readiness probe failed: HTTP probe failed with statuscode: 403',
    ])
    await world.advance(20_000)
    const late = await seen(world)
    assert.deepEqual([late.ready, late.restarts], [true, 0])
  },
  one,
)

scenario(
  'the liveness server of the tutorial is restarted once it answers 500, and a redirect to it is followed',
  async (world) => {
    const image = 'registry.k8s.io/e2e-test-images/agnhost:2.40'
    const livenessProbe = {
      httpGet: { path: '/redirect?loc=/healthz', port: 8080 },
      initialDelaySeconds: 3,
      periodSeconds: 3,
      failureThreshold: 1,
    }
    await create(world, podOf({ image, args: ['liveness'], livenessProbe }))
    await world.advance(10_000)
    assert.equal((await seen(world)).restarts, 0)
    await world.advance(6_000)
    assert.equal((await seen(world)).restarts, 1)
    const [unhealthy] = await messages(world, 'Unhealthy')
    assert.equal(unhealthy, 'Liveness probe failed: HTTP probe failed with statuscode: 500')
  },
  one,
)

scenario(
  'a container that runs only commands known here and declares no port refuses connections, one that runs something else may listen',
  async (world) => {
    const readinessProbe = { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 5 }
    const livenessProbe = {
      tcpSocket: { port: 8080 },
      initialDelaySeconds: 20,
      failureThreshold: 1,
    }
    await create(world, podOf({ ...shell('sleep 1000'), readinessProbe, livenessProbe }))
    await world.advance(15_000)
    assert.deepEqual((await seen(world)).ready, false)
    const { status } = (await found(world))!
    assert.deepEqual(await messages(world, 'Unhealthy'), [
      `Readiness probe failed: Get "http://${status?.podIP}:8080/healthz": dial tcp ${status?.podIP}:8080: connect: connection refused`,
    ])
    await world.advance(10_000)
    assert.equal((await seen(world)).restarts, 1)
    for (const [name, given] of [
      ['server', { command: ['own-server'] }],
      ['late', shell('sleep 3; exec own-server')],
      ['declared', { ...shell('sleep 1000'), ports: [{ containerPort: 8080 }] }],
    ] as const) {
      const pod = podOf({ ...given, readinessProbe })
      await create(world, { ...pod, metadata: { ...pod.metadata, name } })
      await world.advance(15_000)
      const [of] = (await world.find(resources.pods, name))?.status?.containerStatuses ?? []
      assert.equal(of?.ready, true, name)
    }
  },
  one,
)

for (const command of [
  ['sh', '-c', 'mysql -h 127.0.0.1 -e "SELECT 1"'],
  ['bash', '-c', 'echo asking; until redis-cli ping; do sleep 1; done'],
]) {
  scenario(
    `a program that only the real image has is taken to be well within a script too: ${command[2]}`,
    async (world) => {
      await create(world, podOf({ readinessProbe: exec(command), livenessProbe: exec(command) }))
      await world.advance(60_000)
      const { restarts, ready } = await seen(world)
      assert.deepEqual([restarts, ready], [0, true])
      assert.deepEqual(await messages(world, 'Unhealthy'), [])
    },
    one,
  )
}

scenario(
  'a startup probe holds back the others, and kills when it fails too often',
  async (world) => {
    const script = 'sleep 12; touch /tmp/up; sleep 600'
    const startupProbe = exec(['cat', '/tmp/up'], { failureThreshold: 4 })
    const livenessProbe = exec(['cat', '/tmp/up'], { failureThreshold: 1 })
    await create(world, podOf({ ...shell(script), startupProbe, livenessProbe }))
    await world.advance(10_000)
    const early = await seen(world)
    assert.deepEqual([early.started, early.ready, early.restarts], [false, false, 0])
    await world.advance(10_000)
    const late = await seen(world)
    assert.deepEqual([late.started, late.ready, late.restarts], [true, true, 0])
    const pod = podOf({ startupProbe: exec(['false'], { failureThreshold: 2 }) })
    await world.of(resources.pods).create({ ...pod, metadata: { name: 'q', namespace: 'default' } })
    await world.advance(12_000)
    const other = await world.find(resources.pods, 'q')
    assert.equal(other?.status?.containerStatuses?.[0]?.restartCount, 1)
  },
  one,
)

scenario(
  'scripted results of probes: not ready for a while, then killed',
  async (world) => {
    const behavior = JSON.stringify({
      containers: {
        c: {
          readiness: [
            { at: '0s', result: 'success' },
            { at: '20s', result: 'failure' },
          ],
          liveness: [{ at: '60s', result: 'failure' }],
        },
      },
    })
    const probe = { httpGet: { port: 80 }, periodSeconds: 5, failureThreshold: 1 }
    await create(
      world,
      podOf(
        { readinessProbe: probe, livenessProbe: probe },
        { annotations: { 'sim.kubelet/behavior': behavior } },
      ),
    )
    await world.advance(15_000)
    assert.deepEqual(await seen(world).then(({ ready, restarts }) => [ready, restarts]), [true, 0])
    await world.advance(15_000)
    assert.deepEqual(await seen(world).then(({ ready, restarts }) => [ready, restarts]), [false, 0])
    await world.advance(35_000)
    assert.equal((await seen(world)).restarts, 1)
  },
  one,
)
