# Functions shared by tools/lint/includes and tools/lint/symbols: the layer law.

# Read tools/lint/layers into may[folder, thing].
function layers_read(path,    line, word, count, i, folder) {
    while ((getline line < path) > 0) {
        sub(/#.*/, "", line)
        count = split(line, word, /[ \t:]+/)
        if (count == 0 || word[1] == "")
            continue
        folder = word[1]
        is_layer[folder] = 1
        for (i = 2; i <= count; i++)
            if (word[i] != "")
                may[folder, word[i]] = 1
    }
    close(path)
}

function folder_of(path) {
    sub(/\/.*/, "", path)
    return path
}

# May `folder` use `path` (folder/noun, without extension)?
function layers_allow(folder, path) {
    return folder == folder_of(path) || (folder, "*") in may ||
           (folder, folder_of(path)) in may || (folder, path) in may
}
