/** What whoever holds a bootstrap token needs to trust this cluster: ConfigMap kube-public/cluster-info, as kubeadm makes it. */
import { resources } from '@gyropilot/api'
import type { ConfigMap } from '@gyropilot/api'
import { isAlreadyExists, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

const NAMESPACE = 'kube-public'
const NAME = 'cluster-info'
const ROLE = 'kubeadm:bootstrap-signer-clusterinfo'
const RBAC_GROUP = 'rbac.authorization.k8s.io'
/** The server makes its namespaces itself, soon after its start. */
const PAUSE_MS = 10
const LONGEST_WAIT_MS = 5_000

interface ClusterInfo {
  /** `https://HOST:PORT` */
  readonly server: string
  readonly authorityPem: string
}

/**
 * Makes what is missing, and writes the server anew where it is another (a kept data directory on a new port); all else of the
 * ConfigMap stays, signatures too: their controller sees that they are old. Anybody may read it, without a name too.
 */
export async function publishClusterInfo(
  client: Client,
  clock: Clock,
  info: ClusterInfo,
): Promise<void> {
  const configMaps = client.resource(resources.configmaps, NAMESPACE)
  const data = { kubeconfig: kubeconfigOf(info) }
  await made(clock, () => configMaps.create({ metadata: { name: NAME }, data }))
  const found: ConfigMap = await configMaps.get(NAME)
  if (found.data?.['kubeconfig'] !== data.kubeconfig)
    await configMaps.update({ ...found, data: { ...found.data, ...data } })
  await made(clock, () =>
    client.resource(resources.roles, NAMESPACE).create({
      metadata: { name: ROLE },
      rules: [
        { apiGroups: [''], resources: ['configmaps'], resourceNames: [NAME], verbs: ['get'] },
      ],
    }),
  )
  await made(clock, () =>
    client.resource(resources.rolebindings, NAMESPACE).create({
      metadata: { name: ROLE },
      roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: ROLE },
      subjects: [{ apiGroup: RBAC_GROUP, kind: 'User', name: 'system:anonymous' }],
    }),
  )
}

async function made(clock: Clock, create: () => Promise<unknown>): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += PAUSE_MS) {
    try {
      await create()
      return
    } catch (error) {
      if (isAlreadyExists(error)) return
      if (!isNotFound(error) || waitedMs >= LONGEST_WAIT_MS) throw error
      await sleep(clock, PAUSE_MS)
    }
  }
}

/** Without a user: who has a token adds it. */
function kubeconfigOf({ server, authorityPem }: ClusterInfo): string {
  return `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(authorityPem).toString('base64')}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`
}
