// What it costs a controller manager to fill the token secrets of very many service accounts, and to take them away with their
// accounts. Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/service-account-tokens.ts --server URL --token TOKEN [--count 5000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT, --service-account-private-key-file=FILE and
// preferably --controllers=serviceaccount-token-controller.
import { resources } from '@gyropilot/api'
import { countOf, measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

await measuredRun('tokens', 5000, async ({ client, namespace, count, startManager, phase }) => {
  const accounts = client.resource(resources.serviceaccounts, namespace)
  const secrets = client.resource(resources.secrets, namespace)
  await forEach(count, (index) => accounts.create({ metadata: { name: `a-${index}` } }))
  await startManager()
  const secret = (index: number) => ({
    metadata: {
      name: `t-${index}`,
      annotations: { 'kubernetes.io/service-account.name': `a-${index}` },
    },
    type: 'kubernetes.io/service-account-token',
  })
  await phase(
    `${count} secrets get their token`,
    () => forEach(count, (index) => secrets.create(secret(index))),
    async () => (await secrets.list({})).items.every(({ data }) => data?.token !== undefined),
  )
  await phase(
    'all accounts deleted',
    () => accounts.deleteCollection(),
    async () => (await countOf(client, resources.secrets, namespace)) === 0,
  )
})
