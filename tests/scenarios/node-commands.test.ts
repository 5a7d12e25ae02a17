/** What docs/behaviour/simulation/kubelet.md says of commands that run on the machine of a node. */
import assert from 'node:assert/strict'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { end } from './pod-scripts.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

type Spec = NonNullable<Pod['spec']>

async function exitCode(world: World, name: string, script: string, spec: Partial<Spec>) {
  await world.of(resources.pods).create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'c',
          image: 'busybox:1',
          command: ['sh', '-c', script],
          ...(spec.volumes && { volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
          ...(name.startsWith('admin') && { securityContext: { privileged: true } }),
        },
      ],
      ...spec,
    },
  })
  await world.advance(5_000)
  return (await end(world, name))?.exitCode
}

scenario(
  'a privileged pod enters the machine of its node, where it finds what others keep there, and leaves files for them',
  async (world) => {
    const enter = "nsenter -t 1 -m -- sh -c 'mkdir -p /data/a && echo hello > /data/a/f'"
    const folder = { volumes: [{ name: 'v', hostPath: { path: '/data/a' } }] }
    assert.equal(await exitCode(world, 'admin-1', enter, { hostPID: true }), 0)
    const read = 'grep -q hello /v/f && echo back > /v/g'
    assert.equal(await exitCode(world, 'reader', read, folder), 0)
    const files = { volumes: [{ name: 'v', hostPath: { path: '/' } }] }
    const look = 'nsenter --mount=/v/proc/1/ns/mnt -- grep -q back /data/a/g'
    assert.equal(await exitCode(world, 'admin-2', look, files), 0)
    // Neither the processes of the machine nor its files are there: or nothing is allowed.
    assert.equal(await exitCode(world, 'admin-3', enter, {}), 1)
    assert.equal(await exitCode(world, 'other', enter, { hostPID: true }), 1)
  },
  { nodes: 1 },
)
