/** Pods of one container, and what is seen of them. */
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { World } from './scenario.ts'

type Spec = NonNullable<Pod['spec']>
export type Container = Spec['containers'][number]

interface Given {
  readonly spec?: Partial<Spec>
  readonly annotations?: Readonly<Record<string, string>>
}

export const podOf = (container: Partial<Container>, given: Given = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', annotations: given.annotations },
  spec: { containers: [{ name: 'c', image: 'app:1', ...container }], ...given.spec },
})

export const create = (world: World, pod: Pod) => world.of(resources.pods).create(pod)
export const found = (world: World) => world.find(resources.pods, 'p')
export const shell = (script: string): Partial<Container> => ({ command: ['sh', '-c', script] })

export async function seen(world: World) {
  const pod = await found(world)
  const [status] = pod?.status?.containerStatuses ?? []
  return {
    phase: pod?.status?.phase,
    restarts: status?.restartCount,
    exitCode: (status?.state?.terminated ?? status?.lastState?.terminated)?.exitCode,
    ready: status?.ready,
    started: status?.started,
  }
}

export async function messages(world: World, wanted: string): Promise<readonly string[]> {
  await world.advance(2_000)
  const events = await world.list(resources.events)
  const own = events.filter(({ reason }) => reason === wanted)
  return [...new Set(own.map(({ message }) => message ?? ''))]
}

export const one = { nodes: 1 }
export const never = { spec: { restartPolicy: 'Never' } } as const
