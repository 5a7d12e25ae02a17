import { errorText } from '@gyropilot/foundation'
import type { HostEnvironment } from '@gyropilot/foundation'
import { yamlValue } from '@gyropilot/foundation/yaml'
import { managerErrors } from '../errors.ts'
import { allowedLabels, allowedLabelsProblem, manifestMapping } from './metric-filters.ts'
import type { MetricFilters } from './metric-filters.ts'
import type { Options } from '../options/options.ts'

/** What the flags say. Rejects for a manifest that cannot be used. */
export async function metricFilters(
  options: Options,
  host: Pick<HostEnvironment, 'readTextFile'>,
): Promise<MetricFilters> {
  const disabled = new Set(options.list('disabled-metrics'))
  const path = options.text('allow-metric-labels-manifest')
  if (path === '')
    return { disabled, allowed: allowedLabels(options.mapping('allow-metric-labels')) }
  const refuse = (why: string): Error =>
    managerErrors.make(
      'OPTIONS_INVALID',
      `metrics.allowListMappingManifest: Invalid value: ${JSON.stringify(path)}: ${why}`,
    )
  const text = await host.readTextFile(path).catch((error: unknown) => {
    throw refuse(`failed to read allow list manifest: ${errorText(error)}`)
  })
  let mapping: ReadonlyMap<string, string>
  try {
    mapping = manifestMapping(yamlValue(text))
  } catch (error) {
    throw refuse(`failed to parse allow list manifest: ${errorText(error)}`)
  }
  const field = 'metrics.allowListMappingManifest'
  const problem = allowedLabelsProblem(mapping, field)
  if (problem !== undefined) throw refuse(`invalid allow list mapping in manifest: [${problem}]`)
  return { disabled, allowed: allowedLabels(mapping) }
}
