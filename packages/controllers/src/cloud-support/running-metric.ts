import type { MetricsRegistry } from '@gyropilot/foundation'
import type { RunnableController } from '@gyropilot/runtime'

const MANAGER = 'cloud-controller-manager'

/** The same loop, counted in `running_managed_controllers` while it runs. */
export function countedWhileRunning(
  loop: RunnableController,
  name: string,
  metrics: MetricsRegistry,
): RunnableController {
  const running = metrics.gauge({
    name: 'running_managed_controllers',
    help: 'Indicates where instances of a controller are currently running',
    labels: ['name', 'manager'],
  })
  const labels = { name, manager: MANAGER }
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
