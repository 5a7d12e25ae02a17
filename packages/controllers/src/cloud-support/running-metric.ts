import type { MetricsRegistry } from '@gyropilot/foundation'
import type { RunnableController } from '@gyropilot/runtime'

/** The same loop, counted in `running_managed_controllers` while it runs; `manager` is the binary that runs it. */
export function countedWhileRunning(
  loop: RunnableController,
  name: string,
  metrics: MetricsRegistry,
  manager = 'cloud-controller-manager',
): RunnableController {
  const running = metrics.gauge({
    name: 'running_managed_controllers',
    help: 'Indicates where instances of a controller are currently running',
    labels: ['name', 'manager'],
    stability: 'BETA',
  })
  const labels = { name, manager }
  return {
    async run(signal) {
      running.set(1, labels)
      try {
        await loop.run(signal)
      } finally {
        running.set(0, labels)
      }
    },
  }
}
