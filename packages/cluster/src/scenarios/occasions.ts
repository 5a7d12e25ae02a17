/** Waiting for what a controller, by its contract, tries only once. */
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'

const PATIENCE_MS = 20_000
const MOST = 5

/**
 * Lets time pass until it is so. Where a fault has struck, the one try may have been in vain: then the user does what gives the
 * controller another occasion. Without any fault, and after several occasions, not coming is an error.
 */
export async function untilWithOccasions(
  cluster: SimulatedCluster,
  what: string,
  isSo: () => boolean,
  occasion: () => Promise<unknown> | unknown,
): Promise<void> {
  for (let occasions = 0; !(await cluster.until(isSo, PATIENCE_MS)); occasions++) {
    if (cluster.faultCount === 0 || occasions === MOST) throw new Error(`not so: ${what}`)
    await occasion()
  }
}

/** Lets time pass until it is so, and throws when it takes ten minutes. */
export async function untilSo(
  cluster: SimulatedCluster,
  what: string,
  isSo: () => boolean,
): Promise<void> {
  if (!(await cluster.until(isSo, 600_000))) throw new Error(`not so within 10 minutes: ${what}`)
}

/** As an administrator restarts static pods: whichever manager leads then begins anew. */
export async function restartManager(cluster: SimulatedCluster): Promise<void> {
  for (const process of cluster.processes)
    if (process.name.startsWith('controller-manager-')) process.crash()
  await cluster.settle()
}
