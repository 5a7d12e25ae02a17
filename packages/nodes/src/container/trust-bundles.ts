/** What a projected volume shows of ClusterTrustBundles. Contract: docs/behaviour/simulation/kubelet.md, Life of a pod (volumes). */
import { labelQueryOf, resourcesOnRequest } from '@gyropilot/api'
import type { ClusterTrustBundle, ClusterTrustBundleProjection } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { pem, trustAnchors } from '@gyropilot/foundation/x509'

const TYPE = resourcesOnRequest.clustertrustbundles
const NONE_MATCHED = 'combination of signerName and labelSelector matched zero ClusterTrustBundles'

/**
 * One PEM block for each anchor of the bundle that is named, or of those of a signer that have the labels: each once, in the order of
 * their bytes, where kubelets choose one of their own. Empty: nothing is there and need not be. Throws, in the kubelet's words, where
 * it must.
 */
export async function projectedAnchors(
  client: Client,
  source: ClusterTrustBundleProjection,
): Promise<string> {
  const bundles =
    source.name === undefined
      ? await bundlesOfSigner(client, source)
      : await namedBundle(client, source.name)
  if (bundles.length === 0 && source.optional !== true)
    throw new Error(source.name === undefined ? NONE_MATCHED : notFound(source.name))
  const anchors = new Set(bundles.flatMap(({ spec }) => trustAnchors(spec.trustBundle).anchors))
  return [...anchors]
    .map((anchor) => Buffer.from(anchor, 'base64'))
    .toSorted((one, other) => one.compare(other))
    .map((bytes) => pem('CERTIFICATE', bytes))
    .join('')
}

function notFound(name: string): string {
  const missing = `clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)} not found`
  return `while getting ClusterTrustBundle: ${missing}`
}

async function namedBundle(client: Client, name: string): Promise<readonly ClusterTrustBundle[]> {
  try {
    return [await client.resource(TYPE).get(name)]
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}

/** Without a selector none is meant, with an empty one all are. */
async function bundlesOfSigner(
  client: Client,
  { signerName, labelSelector }: ClusterTrustBundleProjection,
): Promise<readonly ClusterTrustBundle[]> {
  const query = labelQueryOf(labelSelector)
  const fieldSelector = `spec.signerName=${signerName ?? ''}`
  const { items } = await client.resource(TYPE).list({ fieldSelector })
  return items.filter(({ metadata }) => query.matches(metadata?.labels ?? {}))
}
