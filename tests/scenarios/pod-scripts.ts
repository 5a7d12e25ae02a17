/** Services with pods behind them, and scripts that a pod runs once in a scenario, and how they ended. */
import type { Pod, Service } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { deployment } from './objects.ts'
import type { World } from './scenario.ts'

interface Serving {
  readonly spec?: Partial<NonNullable<Service['spec']>>
  readonly replicas?: number
  readonly annotations?: Readonly<Record<string, string>>
}

/** A Deployment of that name behind a Service of that name. */
export async function serve(world: World, name: string, given: Serving = {}): Promise<void> {
  const { replicas = 2, annotations } = given
  await world
    .of(resources.deployments)
    .create(deployment(name, { replicas, ...(annotations && { annotations }) }))
  await world.of(resources.services).create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...given.spec },
  })
}

/** A pod that runs the script once and says with its exit code how it went. */
export async function run(world: World, name: string, script: string): Promise<void> {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'c', image: 'busybox:1', command: ['sh', '-c', script] }],
    },
  }
  await world.of(resources.pods).create(pod)
}

export async function end(world: World, name: string) {
  const pod = await world.find(resources.pods, name)
  const status = pod?.status?.containerStatuses?.[0]?.state?.terminated
  return status === undefined ? undefined : { exitCode: status.exitCode, said: status.message }
}

/** How a script ends that writes to its message file; it is run after `settle` ms. */
export async function outcome(world: World, script: string, waitMs = 5_000) {
  const name = `once-${Math.round(world.clock.monotonicMs())}`
  await run(world, name, script)
  await world.advance(waitMs)
  return end(world, name)
}

/** What a script says so is its message. */
export const SAYS = '> /dev/termination-log'
