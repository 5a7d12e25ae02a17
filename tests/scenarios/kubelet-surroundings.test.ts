/** What docs/behaviour/simulation/kubelet.md says of what a container's commands find: their folder, variables and mounts. */
import assert from 'node:assert/strict'
import { resources } from '@gyropilot/api'
import { create, found, never, one, podOf, seen, shell } from './kubelet-pods.ts'
import { SAYS } from './pod-scripts.ts'
import { scenario } from './scenario.ts'

scenario(
  'what a container runs begins in its workingDir, and so do its probes and hooks: it is made where it is not there',
  async (world) => {
    const test = (script: string) => ({ exec: { command: ['sh', '-c', script] } })
    const container = {
      ...shell('pwd > hooked; [ ! -f hooked ] || sleep 10; cat hooked hook > /dev/termination-log'),
      workingDir: '/data/work/',
      volumeMounts: [{ name: 'd', mountPath: '/data' }],
      readinessProbe: { ...test('test -f ./hooked'), periodSeconds: 1 },
      lifecycle: { postStart: test('env A=1 pwd > hook') },
    }
    const volumes = [{ name: 'd', emptyDir: {} }]
    await create(world, podOf(container, { spec: { ...never.spec, volumes } }))
    await world.advance(8_000)
    assert.equal((await seen(world)).ready, true)
    await world.advance(8_000)
    const status = (await found(world))?.status?.containerStatuses?.[0]
    assert.equal(status?.state?.terminated?.message, '/data/work\n/data/work\n')
  },
  one,
)

scenario(
  'the workingDir of a container without a file system to write to is there all the same',
  async (world) => {
    const securityContext = { readOnlyRootFilesystem: true }
    const container = { ...shell(`pwd ${SAYS}; touch x`), workingDir: '/app', securityContext }
    await create(world, podOf(container, never))
    await world.advance(5_000)
    const { state } = (await found(world))?.status?.containerStatuses?.[0] ?? {}
    const { exitCode, message } = state?.terminated ?? {}
    assert.deepEqual([exitCode, message], [1, '/app\n'])
  },
  one,
)

scenario(
  'references are to what the kubelet knows: what the runtime sets stays as it is written, unless the pod sets it',
  async (world) => {
    const env = [
      { name: 'HOME', value: '/h' },
      { name: 'B', value: '$(HOSTNAME) $(HOME)' },
    ]
    const script = `echo '$(HOSTNAME) $(HOME) $(PATH)' "$B $HOSTNAME" ${SAYS}`
    const container = { ...shell(script), env }
    await create(world, podOf(container, never))
    await world.advance(5_000)
    const { state } = (await found(world))?.status?.containerStatuses?.[0] ?? {}
    assert.equal(state?.terminated?.message, '$(HOSTNAME) /h $(PATH) $(HOSTNAME) /h p\n')
  },
  one,
)

scenario(
  'a file of a config map that is mounted by itself is not updated before the container restarts',
  async (world) => {
    const config = (k: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cm' },
      data: { k },
    })
    await world.of(resources.configmaps).create(config('old'))
    const volumes = [{ name: 'v', configMap: { name: 'cm' } }]
    const volumeMounts = [{ name: 'v', mountPath: '/one', subPath: 'k' }]
    const readinessProbe = {
      exec: { command: ['grep', '-q', 'old', '/one'] },
      periodSeconds: 1,
      failureThreshold: 1,
    }
    await create(
      world,
      podOf({ ...shell('sleep 15; exit 1'), volumeMounts, readinessProbe }, { spec: { volumes } }),
    )
    await world.advance(5_000)
    await world.of(resources.configmaps).update(config('new'))
    await world.advance(5_000)
    assert.equal((await seen(world)).ready, true)
    await world.advance(14_000)
    const { restarts, ready } = await seen(world)
    assert.deepEqual([restarts, ready], [1, false])
  },
  one,
)
