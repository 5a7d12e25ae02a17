/** Contract: docs/behaviour/runtime/informers.md, Diagnostics and the gates at its head. */
import type { HostEnvironment, Logger } from '@gyropilot/foundation'
import { silentLogger } from '@gyropilot/foundation'
import type { InformerFactoryOptions } from './informer-factory.ts'

/** To be spread into the options of a SharedInformerFactory or of the cache of a ControllerManager. */
export type InformerSwitches = Pick<
  InformerFactoryOptions,
  'watchList' | 'onAltered' | 'onInconsistentList'
>

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False'])

/**
 * What environment variables say about informers, under client-go's names and in its spelling of truth:
 * KUBE_FEATURE_WatchListClient (default true: initial lists are streamed), KUBE_CACHE_MUTATION_DETECTOR and
 * KUBE_WATCHLIST_INCONSISTENCY_DETECTOR (default false). The last two are for tests: `crash` is called with what they find and
 * should end the process, which goes on with wrong data.
 */
export function informerSwitches(
  host: Pick<HostEnvironment, 'env'>,
  crash: (error: Error) => void,
  logger: Logger = silentLogger,
): InformerSwitches {
  const isOn = (name: string, fallback: boolean): boolean => {
    const text = host.env(name)
    if (text === undefined) return fallback
    if (TRUE.has(text)) return true
    if (FALSE.has(text)) return false
    logger.error(new Error(`not a boolean: ${JSON.stringify(text)}`), `cannot use ${name}`)
    return fallback
  }
  return {
    watchList: isOn('KUBE_FEATURE_WatchListClient', true),
    ...(isOn('KUBE_CACHE_MUTATION_DETECTOR', false) ? { onAltered: crash } : {}),
    ...(isOn('KUBE_WATCHLIST_INCONSISTENCY_DETECTOR', false) ? { onInconsistentList: crash } : {}),
  }
}
