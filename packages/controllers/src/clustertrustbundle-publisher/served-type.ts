/** Which version of ClusterTrustBundles the server has. Contract: docs/behaviour/controllers/clustertrustbundle-publisher.md, Flags and configuration. */
import { apiVersionOf } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { BUNDLE_TYPES } from './config.ts'
import type { BundleType } from './config.ts'

/** Undefined: none. Rejects when the server cannot say. */
export async function servedType(client: Pick<Client, 'raw'>): Promise<BundleType | undefined> {
  for (const type of BUNDLE_TYPES) {
    const names = await resourcesOf(client, `/apis/${apiVersionOf(type)}`)
    if (names.includes(type.resource)) return type
  }
  return undefined
}

async function resourcesOf(
  client: Pick<Client, 'raw'>,
  path: string,
): Promise<readonly (string | undefined)[]> {
  try {
    const list = await client.raw<{ resources?: readonly { name?: string }[] }>({
      method: 'GET',
      path,
    })
    return (list.resources ?? []).map(({ name }) => name)
  } catch (error) {
    if (isNotFound(error)) return []
    throw error
  }
}
