/**
 * The namespace object itself is not looked at, so that its ConfigMap is repaired even while the
 * cache lacks it.
 */
import type { ConfigMap } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import { CONFIG_MAP_NAME } from './config-map.ts'

export interface ObservedBundle {
  readonly namespace: string
  readonly configMap: ConfigMap | undefined
}

export function observe(namespace: string, configMaps: Lister<ConfigMap>): ObservedBundle {
  return { namespace, configMap: configMaps.get(namespace, CONFIG_MAP_NAME) }
}
