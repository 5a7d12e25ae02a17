import { resources, semanticEqual } from '@gyropilot/api'
import type { ConfigMap, Deployment, KubernetesObject, ResourceType, Service } from '@gyropilot/api'
import { ignoreNotFound } from '@gyropilot/client'
import { applyObject, buildController, withControllerReference } from '@gyropilot/runtime'
import type { BuilderManager } from '@gyropilot/runtime'
import { websites } from './website.ts'
import type { Website } from './website.ts'

/** A Website is a page in a ConfigMap, served by a Deployment of nginx behind a Service of the same name. */
export function addWebsiteController(manager: BuilderManager): void {
  buildController(manager)
    .for(websites)
    .owns(resources.configmaps)
    .owns(resources.deployments)
    .owns(resources.services)
    .complete(async ({ namespace, name }, { client, logger }) => {
      const sites = client.resource(websites, namespace)
      const site = await sites.get(name).catch(ignoreNotFound)
      // What it owned is removed by the garbage collector.
      if (site === undefined || site.metadata?.deletionTimestamp) return

      const apply = <T extends KubernetesObject>(type: ResourceType<T>, wanted: T): Promise<T> => {
        const owned = withControllerReference(wanted, site, websites)
        return applyObject(client, type, owned, { fieldOwner: 'website-operator', force: true })
      }
      await apply(resources.configmaps, pageOf(site))
      const deployment = await apply(resources.deployments, serverOf(site))
      await apply(resources.services, addressOf(site))

      const {
        observedGeneration,
        updatedReplicas = 0,
        availableReplicas = 0,
      } = deployment.status ?? {}
      const wanted = deployment.spec?.replicas ?? 1
      const status = {
        ready:
          observedGeneration === deployment.metadata?.generation &&
          updatedReplicas === wanted &&
          availableReplicas >= wanted,
        observedGeneration: site.metadata?.generation,
      }
      if (semanticEqual(site.status, status)) return
      await sites.update({ ...site, status }, { subresource: 'status' })
      logger.info('The website has a new status', status)
    })
}

const labelsOf = (site: Website) => ({ 'example.com/website': site.metadata?.name ?? '' })
const metadataOf = ({ metadata }: Website) => ({
  namespace: metadata?.namespace,
  name: metadata?.name,
})

function pageOf(site: Website): ConfigMap {
  return { metadata: metadataOf(site), data: { 'index.html': site.spec.html } }
}

function serverOf(site: Website): Deployment {
  const labels = labelsOf(site)
  const page = { name: 'page', mountPath: '/usr/share/nginx/html', readOnly: true }
  const nginx = {
    name: 'nginx',
    image: 'nginx:stable',
    ports: [{ containerPort: 80 }],
    volumeMounts: [page],
  }
  const volumes = [{ name: 'page', configMap: { name: site.metadata?.name } }]
  return {
    metadata: metadataOf(site),
    spec: {
      replicas: site.spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [nginx], volumes } },
    },
  }
}

function addressOf(site: Website): Service {
  return { metadata: metadataOf(site), spec: { selector: labelsOf(site), ports: [{ port: 80 }] } }
}
