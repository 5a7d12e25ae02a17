// gyro simulate --scenario ./website.scenario.ts
import { resources } from '@gyropilot/api'
import type { Scenario, SimulatedCluster } from '@gyropilot/cluster'
import { websites } from '../website-operator/website.ts'
import type { Website } from '../website-operator/website.ts'
import { OPERATOR, operatorProgram } from './operator.ts'

const sitesOf = (cluster: SimulatedCluster) => cluster.client.resource(websites, 'default')
const statusOf = (cluster: SimulatedCluster) =>
  cluster.objects.find(websites, 'default', 'home')?.status

const scenario: Scenario = {
  name: 'a website is made and changed',
  controllers: [],
  subject: OPERATOR,
  async prepare(cluster) {
    cluster.run(OPERATOR, operatorProgram(cluster))
    const isServed = () =>
      cluster.objects
        .all(resources.customresourcedefinitions)
        .some(({ status }) =>
          status?.conditions?.some(
            ({ type, status: is }) => type === 'Established' && is === 'True',
          ),
        )
    if (!(await cluster.until(isServed))) throw new Error('the definition is not served')
  },
  async play(cluster) {
    const home: Website = {
      apiVersion: 'example.com/v1',
      kind: 'Website',
      metadata: { name: 'home', namespace: 'default' },
      spec: { html: '<h1>Hello</h1>', replicas: 2 },
    }
    await sitesOf(cluster).create(home)
    await cluster.advance(5_000)
    const value = { spec: { html: '<h1>Welcome</h1>', replicas: 3 } }
    await sitesOf(cluster).patch('home', { type: 'merge', value })
    const hasAddress = () =>
      cluster.objects.find(resources.services, 'default', 'home') !== undefined
    if (!(await cluster.until(hasAddress, 600_000))) throw new Error('home never had a Service')
    // Somebody else meddles. Not at once: an object that comes and goes while a watch has a gap is never seen (docs/guides).
    await cluster.advance(20_000)
    await cluster.delete(resources.services, 'default', 'home')
    await cluster.advance(5_000)
  },
  *ends(cluster) {
    const page = cluster.objects.find(resources.configmaps, 'default', 'home')
    if (page?.data?.['index.html'] !== '<h1>Welcome</h1>') yield 'the page is not the last one'
    const server = cluster.objects.find(resources.deployments, 'default', 'home')
    if (server?.spec?.replicas !== 3) yield 'the server does not have 3 replicas'
    if (!cluster.objects.find(resources.services, 'default', 'home')) yield 'the Service is missing'
    if (statusOf(cluster)?.ready !== true) yield 'the website does not say that it is ready'
  },
}

export default scenario
