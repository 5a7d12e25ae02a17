/** Where configuration comes from. Contract: docs/behaviour/runtime/rest-client.md, "Loading configuration". */
import { join } from 'node:path'
import { FileError, GyropilotError, errorText, silentLogger } from '@gyropilot/foundation'
import type { HostEnvironment, Logger } from '@gyropilot/foundation'
import { authoritiesProblem } from '@gyropilot/foundation/x509'
import { clientErrors } from '../errors.ts'
import { firstToken } from './first-look.ts'
import { emptyKubeconfig, mergeKubeconfigs } from './kubeconfig.ts'
import type { Kubeconfig } from './kubeconfig.ts'
import { parseKubeconfig } from './parse.ts'
import { serverUrl } from './rest-config.ts'
import type { RestConfig } from './rest-config.ts'
import { noConfiguration, selectConfig } from './select.ts'
import type { ConfigOverrides } from './select.ts'

const SERVICE_ACCOUNT_FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * For managers: `--kubeconfig` and `--master`, else the pod's service account. KUBECONFIG and the home folder are not read.
 */
export async function loadManagerConfig(
  flags: { readonly kubeconfig?: string; readonly master?: string },
  host: HostEnvironment,
  logger: Logger = silentLogger,
): Promise<RestConfig> {
  if (!flags.kubeconfig && !flags.master) {
    logger.info(
      'Neither --kubeconfig nor --master was specified.  Using the inClusterConfig.  This might not work.',
    )
    try {
      return await inClusterConfig(host, logger)
    } catch (error) {
      // In a pod, with a token or an address that is no good: there is nothing to fall back to.
      if (!isOutsideOfPod(error)) throw error
      logger.info('error creating inClusterConfig, falling back to default config', {
        err: errorText(error),
      })
      throw noConfiguration(error)
    }
  }
  const config = flags.kubeconfig ? await readExplicit(flags.kubeconfig, host) : emptyKubeconfig
  return selectConfig(config, flags.master ? { server: flags.master } : {}, host)
}

/**
 * For command-line tools and operators: the file given, else those of KUBECONFIG, else `~/.kube/config`; where these say
 * nothing, the pod's service account.
 */
export async function loadClientConfig(
  options: { readonly kubeconfig?: string; readonly overrides?: ConfigOverrides },
  host: HostEnvironment,
  logger: Logger = silentLogger,
): Promise<RestConfig> {
  const { overrides = {} } = options
  const config = options.kubeconfig
    ? await readExplicit(options.kubeconfig, host)
    : await loadKubeconfig(host)
  const saysNothing =
    config.currentContext === '' &&
    config.clusters.size === 0 &&
    Object.keys(overrides).length === 0
  if (saysNothing && !options.kubeconfig && host.env('KUBERNETES_SERVICE_HOST')) {
    try {
      return await inClusterConfig(host, logger)
    } catch (error) {
      if (!isOutsideOfPod(error)) throw error
    }
  }
  return selectConfig(config, overrides, host)
}

/** True also in a pod that was given no token. */
export function isOutsideOfPod(error: unknown): boolean {
  return error instanceof GyropilotError && error.code === 'IN_CLUSTER_UNAVAILABLE'
}

/** The files of KUBECONFIG, or `~/.kube/config`, merged. Files that do not exist are skipped. */
export async function loadKubeconfig(host: HostEnvironment): Promise<Kubeconfig> {
  const configs: Kubeconfig[] = []
  for (const path of kubeconfigPaths(host)) {
    try {
      configs.push(await readFile(path, host))
    } catch (error) {
      if (!(error instanceof FileError && error.code === 'ENOENT')) throw error
    }
  }
  return mergeKubeconfigs(configs)
}

/** Without repetitions, in the order of precedence. */
export function kubeconfigPaths(host: HostEnvironment): readonly string[] {
  const listed = host.env('KUBECONFIG')
  if (listed)
    return [...new Set(listed.split(host.pathListSeparator).filter((path) => path !== ''))]
  return host.homeDirectory === '' ? [] : [join(host.homeDirectory, '.kube', 'config')]
}

async function readExplicit(path: string, host: HostEnvironment): Promise<Kubeconfig> {
  try {
    return await readFile(path, host)
  } catch (error) {
    if (!(error instanceof FileError && error.code === 'ENOENT')) throw error
    throw clientErrors.make('KUBECONFIG_NOT_FOUND', `stat ${path}: no such file or directory`, {
      cause: error,
    })
  }
}

/** Rejects with FileError ENOENT for a file that does not exist. */
async function readFile(path: string, host: HostEnvironment): Promise<Kubeconfig> {
  let text: string
  try {
    text = await host.readTextFile(path)
  } catch (error) {
    if (error instanceof FileError && error.code === 'ENOENT') throw error
    throw clientErrors.make(
      'KUBECONFIG_NOT_FOUND',
      `error loading config file ${JSON.stringify(path)}: ${errorText(error)}`,
      { cause: error },
    )
  }
  // Relative paths inside count from the file's folder, which may itself be relative to where we stand.
  const absolute = path.startsWith('/') ? path : join(host.workingDirectory, path)
  return parseKubeconfig(text, absolute)
}

/** The service account of the pod this process runs in. */
export async function inClusterConfig(
  host: HostEnvironment,
  logger: Logger = silentLogger,
): Promise<RestConfig> {
  const address = host.env('KUBERNETES_SERVICE_HOST')
  const port = host.env('KUBERNETES_SERVICE_PORT')
  if (!address || !port) {
    throw clientErrors.make(
      'IN_CLUSTER_UNAVAILABLE',
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    )
  }
  const bearerTokenFile = `${SERVICE_ACCOUNT_FOLDER}/token`
  const caFile = `${SERVICE_ACCOUNT_FOLDER}/ca.crt`
  const bearerToken = await firstToken(bearerTokenFile, host, 'IN_CLUSTER_UNAVAILABLE')
  const caProblem = await host.readTextFile(caFile).then(authoritiesProblem, errorText)
  // Without it the machine's authorities count.
  if (caProblem !== undefined)
    logger.error(
      new Error(caProblem),
      `Expected to load root CA config from ${caFile}, but got err`,
    )
  const namespace = await host.readTextFile(`${SERVICE_ACCOUNT_FOLDER}/namespace`).then(
    (text) => text.trim(),
    () => undefined,
  )
  return {
    server: serverUrl(`https://${address.includes(':') ? `[${address}]` : address}:${port}`),
    tls: caProblem === undefined ? { caFile } : {},
    bearerToken,
    bearerTokenFile,
    ...(namespace === undefined ? {} : { namespace }),
  }
}
