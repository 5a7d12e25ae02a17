import { errorText } from '@gyropilot/foundation'
import type { HostEnvironment, Logger } from '@gyropilot/foundation'
import { yamlValue } from '@gyropilot/foundation/yaml'
import { allowedLabels, manifestMapping } from './metric-filters.ts'
import type { MetricFilters } from './metric-filters.ts'
import type { Options } from '../options/options.ts'

/** What the flags say. A manifest that cannot be used is told and filters nothing. */
export async function metricFilters(
  options: Options,
  host: Pick<HostEnvironment, 'readTextFile'>,
  logger: Logger,
): Promise<MetricFilters> {
  const disabled = new Set(options.list('disabled-metrics'))
  const given = options.mapping('allow-metric-labels')
  const path = options.text('allow-metric-labels-manifest')
  if (given.size > 0 || path === '') return { disabled, allowed: allowedLabels(given) }
  try {
    const mapping = manifestMapping(yamlValue(await host.readTextFile(path)))
    return { disabled, allowed: allowedLabels(mapping) }
  } catch (error) {
    logger.error(error, 'Failed to read allow list manifest', { path, reason: errorText(error) })
    return { disabled, allowed: new Map() }
  }
}
