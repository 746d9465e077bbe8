function build_mex()
% Compile the MEX files and, in MATLAB, the S-functions, into the folder of this file.
  here = fileparts(mfilename('fullpath'));
  names = {@NAMES@};
  for k = 1:numel(names)
    gateway = fullfile(here, 'src', [names{k} '_mex.c']);
    block = fullfile(here, 'src', [names{k} '_sfun.c']);
    if exist('OCTAVE_VERSION', 'builtin')
      mkoctfile('--mex', '-o', fullfile(here, [names{k} '_mex']), gateway);
    else
      mex('-outdir', here, gateway);
      if exist('simulink', 'file')
        mex('-outdir', here, block);
      end
    end
    fprintf('%s: built\n', names{k});
  end
end
