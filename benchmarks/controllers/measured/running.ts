/** Controllers on informers of a server in memory, in virtual time: what is left to measure is their own work. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { controllers, defaultControllersConfiguration } from '@gyropilot/controllers'
import { SharedInformerFactory } from '@gyropilot/runtime'
import { testContext } from '@gyropilot/runtime/testing'

export type Running = Awaited<ReturnType<typeof run>>

/** `names` are those of kube-controller-manager. `fill` puts in what is there before they start. */
export async function run(
  names: readonly string[],
  fill: (put: <T extends KubernetesObject>(type: ResourceType<T>, object: T) => void) => void,
) {
  const context = testContext({ configuration: defaultControllersConfiguration })
  const { client: server, clock, random, logger } = context
  fill((type, object) => void server.put(type, object))
  const informers = new SharedInformerFactory({ client: server, clock, random, logger })
  const chosen = controllers.filter(({ name }) => names.includes(name))
  const built = await Promise.all(
    chosen.map((descriptor) => descriptor.build({ ...context, name: descriptor.name, informers })),
  )
  const stopping = new AbortController()
  informers.start(stopping.signal)
  const runs = built.map((controller) => controller!.run(stopping.signal))
  return {
    server,
    clock,
    metrics: context.metrics,
    async stop() {
      stopping.abort()
      await clock.advance(0)
      await Promise.all(runs)
    },
  }
}

/** CPU milliseconds that `act` and all that follows from it cost this process, in the mean of `times`. */
export async function cpuMilliseconds(
  times: number,
  act: (index: number) => Promise<void>,
): Promise<number> {
  const before = process.cpuUsage()
  for (let index = 0; index < times; index++) await act(index)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / times
}

export function print(rows: readonly (readonly [string, string, string])[]): void {
  for (const [what, figure, budget] of rows)
    console.log(`${what.padEnd(64)} ${figure.padStart(10)}   ${budget}`)
}
