// How many approved certificate signing requests a controller manager signs, and what each costs. Run it with the one manager
// and with the other, and compare.
//
//   node benchmarks/controllers/signing-requests.ts --server URL --token TOKEN [--count 3000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT, --cluster-signing-cert-file=FILE,
// --cluster-signing-key-file=FILE and preferably --controllers=certificatesigningrequest-signing-controller.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resources } from '@gyropilot/api'
import { measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const directory = mkdtempSync(join(tmpdir(), 'signing-requests-'))
const file = (name: string): string => join(directory, name)
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const output = ['-keyout', file('key.pem'), '-out', file('request.pem')]
execFileSync('openssl', ['req', '-new', ...newKey, ...output, '-subj', '/CN=someone'], {
  stdio: 'ignore',
})
const request = readFileSync(file('request.pem')).toString('base64')

await measuredRun('signing', 3000, async ({ client, namespace, count, startManager, phase }) => {
  const requests = client.resource(resources.certificatesigningrequests)
  const spec = {
    request,
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  }
  const approved = { type: 'Approved', status: 'True', reason: 'Benchmark', message: '' }
  await startManager()
  await forEach(count, (index) =>
    requests.create({ metadata: { name: `${namespace}-${index}` }, spec } as never),
  )
  await phase(
    `${count} requests approved and signed`,
    () =>
      forEach(count, (index) =>
        requests.patch(
          `${namespace}-${index}`,
          { type: 'merge', value: { status: { conditions: [approved] } } },
          { subresource: 'approval' },
        ),
      ),
    async () =>
      (await requests.list({})).items.every(({ status }) => status?.certificate !== undefined),
  )
  await requests.deleteCollection()
})
