// A plug-in of Stryker: what is logged is for people, and no test should hold it.
import { PluginKind, declareValuePlugin } from '@stryker-mutator/api/plugin'

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'logging', {
    shouldIgnore(path) {
      if (!path.isExpressionStatement()) return undefined
      return /^(this\.)?#?(\w+\.)*#?logger\b/.test(path.toString()) ? 'logging' : undefined
    },
  }),
]
