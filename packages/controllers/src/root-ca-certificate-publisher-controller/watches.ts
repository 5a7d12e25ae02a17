/**
 * Which namespaces an event concerns.
 * Contract: docs/behaviour/controllers/root-ca-certificate-publisher-controller.md, Watches and
 * keys.
 */
import { keyOf, resources, splitKey } from '@gyropilot/api'
import type { ConfigMap, KubernetesObject, Namespace } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { CONFIG_MAP_NAME } from './config-map.ts'

export const namespaceWatch: Watch<Namespace> = {
  type: resources.namespaces,
  onAdd: (namespace) => [keyOf(namespace)],
  onUpdate: (_, namespace) => (namespace.status?.phase === 'Active' ? [keyOf(namespace)] : []),
}

export const configMapWatch: Watch<ConfigMap> = {
  type: resources.configmaps,
  onUpdate: (_, configMap) => namespaceOf(configMap),
  onDelete: (configMap) =>
    configMap instanceof DeletedFinalStateUnknown
      ? namespaceOf({ metadata: splitKey(configMap.key) })
      : namespaceOf(configMap),
}

function namespaceOf({ metadata }: KubernetesObject): readonly string[] {
  return metadata?.name === CONFIG_MAP_NAME && metadata.namespace ? [metadata.namespace] : []
}
