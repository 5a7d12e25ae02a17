/** The kube-controller-manager. Contract: docs/behaviour/runtime/manager.md. */
import type { RestConfig } from '@gyropilot/client'
import { controllers } from '@gyropilot/controllers'
import { errorText } from '@gyropilot/foundation'
import type { HostEnvironment } from '@gyropilot/foundation'
import { componentConfiguration } from './options/component-configuration.ts'
import { knownControllers } from './controller-names.ts'
import { controllersConfiguration } from './options/controllers-configuration.ts'
import { managerErrors } from './errors.ts'
import { flagGroups } from './flags/kube-controller-manager-flags.ts'
import { kubeControllerManagerProblems } from './options/options.ts'
import type { Options } from './options/options.ts'
import type { Program } from './program.ts'
import { recyclerTemplates } from './options/recycler-templates.ts'

const INTRODUCTION = `kube-controller-manager runs the control loops of Kubernetes: each watches the shared state of the cluster through the
API server and makes changes that move it towards the desired state. This one is Gyropilot, the same loops in TypeScript.`

const WITHOUT_RECYCLER = 'failed to probe volume plugins when starting persistentvolume controller'

export const kubeControllerManager: Program = {
  name: 'kube-controller-manager',
  introduction: INTRODUCTION,
  flagGroups,
  knownControllers,
  descriptors: controllers,
  configurationGroup: 'kubecontrollermanager.config.k8s.io',
  servesProbes: true,
  startsOneByOne: false,
  problemsOf: kubeControllerManagerProblems,
  componentConfiguration,
  async prepare(options, { host, localTimeZone, hostFolders }) {
    const templates = await recyclerTemplates((flag) =>
      textOfFile(
        options,
        host,
        flag,
        (file) => `${WITHOUT_RECYCLER}: failed to read file path ${file}`,
      ),
    )
    return {
      configuration: async (config) =>
        controllersConfiguration(options, {
          rootCaPem: await rootCa(options, host, config),
          readTextFile: (path) => host.readTextFile(path),
          localTimeZone,
          hostFolders,
          recyclerTemplates: templates,
          serviceAccountPrivateKeyPem: await textOfFile(
            options,
            host,
            'service-account-private-key-file',
            () => 'error reading key for service account token controller',
          ),
        }),
    }
  },
}

/** --root-ca-file, else the CA of the kubeconfig's cluster. */
async function rootCa(
  options: Options,
  host: HostEnvironment,
  { tls: { caData, caFile } }: RestConfig,
): Promise<string> {
  const problem = (file: string): string => `error parsing root-ca-file at ${file}`
  const text = await textOfFile(options, host, 'root-ca-file', problem)
  const file = options.text('root-ca-file')
  if (file !== '' && !text.includes('-----BEGIN CERTIFICATE-----')) {
    const message = `${problem(file)}: data does not contain any valid RSA or ECDSA certificates`
    throw managerErrors.make('OPTIONS_INVALID', message)
  }
  if (text !== '') return text
  return caData ?? (caFile === undefined ? '' : host.readTextFile(caFile))
}

/** Of the file that a flag names; empty without one. `problem` is upstream's word for a file that cannot be read. */
async function textOfFile(
  options: Options,
  host: HostEnvironment,
  flag: string,
  problem: (file: string) => string,
): Promise<string> {
  const file = options.text(flag)
  if (file === '') return ''
  try {
    return await host.readTextFile(file)
  } catch (error) {
    throw managerErrors.make('OPTIONS_INVALID', `${problem(file)}: ${errorText(error)}`)
  }
}
