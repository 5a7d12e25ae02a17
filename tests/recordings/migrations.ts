/**
 * The API of StorageVersionMigrations, which a server with the gate StorageVersionMigrator has of itself: a definition brings it,
 * with the rights that the gate gives the controller.
 */
import { resources } from '@gyropilot/api'
import type { Cluster } from '@gyropilot/cluster'

const GROUP = 'storagemigration.k8s.io'
const PLURAL = 'storageversionmigrations'
const ACCOUNT = 'storage-version-migrator-controller'
const ROLE = `system:controller:${ACCOUNT}`

export async function serveMigrations(cluster: Cluster): Promise<void> {
  const client = cluster.client()
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await client.resource(resources.customresourcedefinitions).create({
    metadata: {
      name: `${PLURAL}.${GROUP}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, in the place of a built-in kind' },
    },
    spec: {
      group: GROUP,
      names: { plural: PLURAL, kind: 'StorageVersionMigration' },
      scope: 'Cluster',
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: open },
          subresources: { status: {} },
        },
      ],
    },
  })
  await client.resource(resources.clusterroles).create({
    metadata: { name: ROLE },
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['list', 'create', 'patch'] },
      {
        apiGroups: ['apiextensions.k8s.io'],
        resources: ['customresourcedefinitions'],
        verbs: ['get'],
      },
      { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ['update'] },
    ],
  })
  await client.resource(resources.clusterrolebindings).create({
    metadata: { name: ROLE },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: ROLE },
    subjects: [{ kind: 'ServiceAccount', name: ACCOUNT, namespace: 'kube-system' }],
  })
}
