/**
 * The ConfigMap `kube-root-ca.crt`.
 * Contract: docs/behaviour/controllers/root-ca-certificate-publisher-controller.md.
 */
import type { ConfigMap } from '@gyropilot/api'

export const CONFIG_MAP_NAME = 'kube-root-ca.crt'
const CA_KEY = 'ca.crt'
const DESCRIPTION = 'kubernetes.io/description'
export const DESCRIPTION_TEXT =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

export function newConfigMap(namespace: string, caBundle: string): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: CONFIG_MAP_NAME,
      namespace,
      annotations: { [DESCRIPTION]: DESCRIPTION_TEXT },
    },
    data: { [CA_KEY]: caBundle },
  }
}

/**
 * Data must be exactly the bundle. Of the annotation only presence counts: two versions that
 * disagreed on its text would overwrite each other for ever.
 */
export function isUpToDate(configMap: ConfigMap, caBundle: string): boolean {
  const names = Object.keys(configMap.data ?? {})
  return (
    names.length === 1 &&
    configMap.data?.[CA_KEY] === caBundle &&
    Boolean(configMap.metadata?.annotations?.[DESCRIPTION])
  )
}

/** Everything else on the object stays, `binaryData` and other annotations included. */
export function corrected(configMap: ConfigMap, caBundle: string): ConfigMap {
  const annotations = { ...configMap.metadata?.annotations, [DESCRIPTION]: DESCRIPTION_TEXT }
  return {
    ...configMap,
    metadata: { ...configMap.metadata, annotations },
    data: { [CA_KEY]: caBundle },
  }
}
